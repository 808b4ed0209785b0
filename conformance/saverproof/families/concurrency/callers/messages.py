"""Messages between two processes that meet: each waits for what the other says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.meeting import Meeting

_NAP_S = 0.0005


class GoneError(Exception):
    """The other process has ended, and says nothing more."""


class Messages:
    """Sends and receives the messages of one of two processes.

    Each message is plain data in a file of its own, and the meeting counts the messages.
    ``waiting`` is called again and again while no message comes, so that a process which waits for
    the other does not count as hung.
    """

    def __init__(
        self, meeting: Meeting, file: Path, own: int, waiting: Callable[[], object]
    ) -> None:
        self._meeting = meeting
        self._file = file
        self._waiting = waiting
        self._own, self._other = own, 1 - own
        self._sent = self._got = 0
        # The other process has to know the id of the one that may die.
        meeting.tell(0)

    def send(self, said: Any) -> None:
        """Send a message."""
        self._sent += 1
        self._at(self._own, self._sent).write_text(json.dumps(said), encoding="utf-8")
        self._meeting.tell(self._sent)

    def receive(self) -> Any:
        """Wait for the next message of the other process, and return it.

        Raises:
            GoneError: the other process has ended.
        """
        while not self.has_come():
            if self.are_over():
                raise GoneError
            self._waiting()
            time.sleep(_NAP_S)
        file = self._at(self._other, self._got + 1)
        if not file.exists():
            raise GoneError
        self._got += 1
        return json.loads(file.read_text(encoding="utf-8"))

    def has_come(self) -> bool:
        """Return whether there is a message that was not received yet."""
        return self._meeting.of(self._other) > self._got

    def are_over(self) -> bool:
        """Return whether the other process has died, and has said nothing more."""
        # Its last message may have come just before it died.
        return self._meeting.has_died(self._other) and not self.has_come()

    @property
    def other(self) -> int:
        """Return the id of the other process; 0 until that process has told how far it has come."""
        return self._meeting.process(self._other)

    def _at(self, number: int, message: int) -> Path:
        return self._file.with_name(f"{self._file.name}-{number}-{message}.json")
