"""Runs another process that keeps everybody out of SQLite files, as a backup or a VACUUM does."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Self

_HOLD = """
import sqlite3, sys
held = []
for path in iter(sys.stdin.readline, "\\n"):
    held.append(sqlite3.connect(path[:-1], timeout=0, isolation_level=None))
    held[-1].execute("BEGIN EXCLUSIVE")
modes = [one.execute("PRAGMA journal_mode").fetchone()[0] for one in held]
print(sum(mode != "wal" for mode in modes), flush=True)
sys.stdin.read()
"""


class LockingProcess:
    """A context manager that starts and ends the process.

    Enter it on a thread whose system calls are not held: the process would inherit that.
    """

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def lock(self, files: Iterable[Path]) -> bool:
        """Lock the files. Return whether all of them could be locked, and readers of some file have
        to wait. Readers of a file in WAL mode never have to.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{file}\n" for file in files) + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip() not in ("", "0")

    def unlock(self) -> None:
        """Let go of the files."""
        self._process.kill()
        self._process.wait()

    def __exit__(self, *exc_info: object) -> None:
        self.unlock()
        self._process.communicate()
