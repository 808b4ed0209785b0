"""What two processes that meet say to each other, one message after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.meeting import Meeting

_NAP_S = 0.0005


class GoneError(Exception):
    """The other process is done, and says nothing more."""


class Messages:
    """The messages of one of two processes, each plain data in a file; the meeting counts them."""

    def __init__(self, meeting: Meeting, file: Path, own: int) -> None:
        self._meeting = meeting
        self._file = file
        self._own, self._other = own, 1 - own
        self._sent = self._got = 0

    def send(self, said: Any) -> None:
        """Say something."""
        self._sent += 1
        self._at(self._own, self._sent).write_text(json.dumps(said), encoding="utf-8")
        self._meeting.tell(self._sent)

    def receive(self, waiting: Callable[[], object] = lambda: None) -> Any:
        """Wait for what the other says next; ``waiting`` is called now and then.

        Raises:
            GoneError: it is done.
        """
        while self._meeting.of(self._other) <= self._got:
            waiting()
            time.sleep(_NAP_S)
        file = self._at(self._other, self._got + 1)
        if not file.exists():
            raise GoneError
        self._got += 1
        return json.loads(file.read_text(encoding="utf-8"))

    def _at(self, number: int, message: int) -> Path:
        return self._file.with_name(f"{self._file.name}-{number}-{message}.json")
