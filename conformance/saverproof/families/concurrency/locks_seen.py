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

from saverproof.families.concurrency.holding import HoldPoint

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

    A probing write cannot tell: while it waits for a lock, SQLite sleeps, and it wakes up too late.
    Another process looks for locks. If this process opened and closed the files with another build
    of SQLite, it would lose its own locks on them.
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
            # It ends when nothing more can be asked, however this process comes to its end.
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
