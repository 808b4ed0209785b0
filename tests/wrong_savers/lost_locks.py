"""Savers that lose a lock of the operating system before they are done."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.reference.state_file import StateFileReference
from tests.reference.state_text import read_state
from tests.wrong_savers.registry import wrong

_OF_THE_PROCESS = threading.RLock()


@wrong(
    "concurrency/processes-lose-nothing",
    "a POSIX lock, which is the process's, is lost once a read closes the same file",
    also={"concurrency/linearizable"},
)
class LockLostToAReader(StateFileReference):
    @contextmanager
    def turn(self) -> Iterator[None]:
        with _OF_THE_PROCESS:
            fcntl.lockf(self.lock, fcntl.LOCK_EX)
            try:
                self.catch_up()
                yield
            finally:
                fcntl.lockf(self.lock, fcntl.LOCK_UN)

    def get_tuple(self, config: Any) -> Any:
        return self._as_it_is().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Any:
        return self._as_it_is().list(config, **options)

    def _as_it_is(self) -> ReferenceSaver:
        # The file is replaced as a whole, so that no lock is needed: it need only be there.
        os.close(os.open(self.folder / "lock", os.O_RDONLY))
        try:
            return ReferenceSaver(read_state(self.folder), serde=self.serde)
        except FileNotFoundError:
            return ReferenceSaver(serde=self.serde)
