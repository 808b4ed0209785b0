"""Savers that take any exception for an `Exception`: KeyboardInterrupt and SystemExit are none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
LATE = "atomicity/no-late-commit"
USABLE = "atomicity/usable-after"


class RollingBackExceptions(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            try:
                if not self.connection.in_transaction:
                    self.begin()
                yield
                self.commit()
            except Exception:
                self.roll_back()
                raise


@wrong(
    LATE,
    "except Exception: roll back; what KeyboardInterrupt leaves, the next call commits",
    apis=("sync",),
    also={USABLE},
)
class InterruptedCallStaysOpen(SqliteReference):
    database_class = RollingBackExceptions


class CommittingUnlessItFailed(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            failed = False
            try:
                self.begin()
                yield
            except Exception:
                failed = True
                raise
            finally:
                if failed:
                    self.roll_back()
                else:
                    self._commit_or_undo()

    def _commit_or_undo(self) -> None:
        try:
            self.commit()
        except BaseException:
            self.roll_back()
            raise


@wrong(WHOLE, "finally: commit, unless an Exception came: SystemExit is none", apis=("sync",))
class InterruptedCallIsCommitted(SqliteReference):
    database_class = CommittingUnlessItFailed


class Gated(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        # Waits that end, so that an exception can end this thread; long ones, which are no work.
        while not self.gate.acquire(timeout=0.3):
            continue
        try:
            with super().writing():
                yield
        except Exception:
            self.gate.release()
            raise
        self.gate.release()


@wrong(
    USABLE,
    "acquire, work, release on success and on Exception alone",
    apis=("sync",),
    hangs=True,
)
class InterruptedCallKeepsTheGate(SqliteReference):
    database_class = Gated
