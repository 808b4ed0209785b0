"""Tells from outside whether anyone has a lock of a store's SQLite files."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from saverproof.families.concurrency.held.holding import HoldPoint

_LOOK = """
import json, sqlite3, sys
from contextlib import closing
for line in sys.stdin:
    free = True
    for file in json.loads(line):
        try:
            with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
                # Where there is no log, readers are in the way of a commit, too.
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            free = False
    print(json.dumps(free), flush=True)
"""


@dataclass(slots=True)
class LockLooks:
    """Finds the places of a call at which nobody has a lock.

    Whether a write is answered does not tell: SQLite sleeps while the write waits for a lock, and
    wakes up too late. So another process looks for locks. This process would lose its own locks on
    the files if it opened and closed them with another build of SQLite.
    """

    files: Sequence[Path]
    _asked: IO[str]
    _answers: IO[str]
    free: list[tuple[HoldPoint, bool]] = field(default_factory=list)
    _looking: threading.Lock = field(default_factory=threading.Lock)
    """Held during a look, since a call may reach places in several threads at once."""

    @classmethod
    @contextmanager
    def of(cls, files: Sequence[Path]) -> Iterator[Self]:
        """Look at these files, until the block ends."""
        looking = [sys.executable, "-I", "-S", "-c", _LOOK]
        pipe = subprocess.PIPE
        with subprocess.Popen(looking, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            # The process ends when its input ends, so even if this process is killed.
            yield cls(files, process.stdin, process.stdout)

    def at(self, place: HoldPoint) -> None:
        """Look for locks at this place."""
        with self._looking:
            print(json.dumps([str(file) for file in self.files]), file=self._asked, flush=True)
            self.free.append((place, bool(json.loads(self._answers.readline()))))

    async def await_at(self, place: HoldPoint) -> None:
        """Look for locks at this place, without waiting for the event loop."""
        self.at(place)

    def end(self) -> None:
        """Do nothing: no look is left unfinished."""
