"""Savers one operation of which does not take the lock that the others take."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong

THREADS = "concurrency/threads-lose-nothing"
TORN = "concurrency/no-torn-reads"


@wrong(
    THREADS,
    "runs are deleted in a transaction outside the lock: beside it, no other call can begin one",
    also={TORN, "concurrency/linearizable"},
)
class RunsDeletedOutsideTheLock(InThreads, SqliteReference):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        database = self.database
        try:
            database.begin()
            self._delete_runs(run_ids)
            database.commit()
        except BaseException:
            database.roll_back()
            raise


@wrong(
    THREADS,
    "runs are deleted in the transaction of whichever call is under way, and with it rolled back",
    also={TORN, "concurrency/linearizable"},
)
class RunsDeletedInAnothersTransaction(RunsDeletedOutsideTheLock):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        if self.database.connection.in_transaction:
            self._delete_runs(run_ids)
        else:
            super().delete_for_runs(run_ids)
