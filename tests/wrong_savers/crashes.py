"""Savers that lose or tear what they acknowledged when their process dies."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.registry import wrong
from tests.wrong_savers.transactions import CommittingLater, DeleteInTwoTransactions

ACKNOWLEDGED = "durability/acknowledged-survives"
IN_FLIGHT = "durability/in-flight-atomic"
POWER = "durability/power-cut"
# What is lost cannot be resumed from, and a later operation may have survived it.
LOST = {"durability/resume", "durability/no-rerun", "durability/no-gaps", POWER}
Place = tuple[str, str, str]


# -- acknowledged-survives ----------------------------------------------------------------


class CommittingEveryThird(CommittingLater):
    ended = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if not self.connection.in_transaction:
                self.begin()
            self.connection.execute("SAVEPOINT operation")
            try:
                yield
            except BaseException:
                self.connection.execute("ROLLBACK TO operation")
                raise
            self.connection.execute("RELEASE operation")
            self.ended += 1
            if self.ended % 3 == 0:
                self.commit()


@wrong(ACKNOWLEDGED, "a commit every third operation, for speed", also=LOST)
class CommitEveryThird(SqliteReference):
    database_class = CommittingEveryThird


@wrong(ACKNOWLEDGED, "the commit comes with the next operation", also=LOST)
class CommitWithTheNextOperation(SqliteReference):
    database_class = CommittingLater


@wrong(
    IN_FLIGHT,
    "after sixty-four replaced rows the table is emptied, and filled again in a second transaction",
    also=LOST,
)
class TableWrittenAnew(SqliteReference):
    replaced = 0

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        place = (row.thread, row.ns, row.id)
        self.replaced += bool(self._rows("thread = ? AND ns = ? AND id = ?", *place))
        super()._insert_checkpoint(row)

    def put(self, *arguments: Any) -> Any:
        answer = super().put(*arguments)
        if self.replaced >= 64:
            self.replaced = 0
            with self.database.writing():
                rows = self.database.rows("SELECT * FROM checkpoints")
                self.database.run("DELETE FROM checkpoints")
            with self.database.writing():
                for row in rows:
                    marks = ", ".join("?" * len(row))
                    self.database.run(f"INSERT INTO checkpoints VALUES ({marks})", *row)
        return answer


class WriteBehind(SqliteReference):
    """Hands operations to a thread; reads wait until it is done."""

    def _behind(self) -> queue.Queue[Any]:
        if "behind" not in self.__dict__:
            self.__dict__["behind"] = queue.Queue()
            self.__dict__["worker"] = threading.Thread(target=self._work, daemon=True)
            self.__dict__["worker"].start()
        behind: queue.Queue[Any] = self.__dict__["behind"]
        return behind

    def _work(self) -> None:
        behind = self.__dict__["behind"]
        while (operation := behind.get()) is not None:
            # The mistake includes that nobody hears of the thread's errors.
            with suppress(Exception):
                operation()
            behind.task_done()

    def _wait(self) -> None:
        if "behind" in self.__dict__:
            self.__dict__["behind"].join()

    def get_tuple(self, config: Any) -> Any:
        self._wait()
        return super().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Any:
        self._wait()
        yield from super().list(config, **options)

    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        self._wait()
        return super().get_delta_channel_history(config=config, channels=channels)

    def delete_thread(self, thread_id: str) -> None:
        self._wait()
        super().delete_thread(thread_id)

    def delete_for_runs(self, run_ids: Any) -> None:
        self._wait()
        super().delete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._wait()
        super().copy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        self._wait()
        super().prune(thread_ids, strategy=strategy)

    def close(self) -> None:
        if "behind" in self.__dict__ and not self.is_clone:
            self.__dict__.pop("behind").put(None)
            self.__dict__["worker"].join()
        super().close()


@wrong(
    ACKNOWLEDGED,
    "a thread writes behind: put_writes returns before anything is stored",
    # What was lost before looks like a part of the deletion in flight.
    also={IN_FLIGHT, *LOST},
)
class WritesWrittenBehind(WriteBehind):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        self._behind().put(lambda: self._write(place, rows))

    def _write(self, place: Place, rows: Sequence[WriteRow]) -> None:
        with self.database.writing():
            super()._insert_writes(place, rows)


# -- in-flight-atomic ---------------------------------------------------------------------


class Pointing(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS latest (thread, ns, id, UNIQUE (thread, ns))"
        )


@wrong(IN_FLIGHT, "which checkpoint is the latest is written down in a transaction of its own")
class LatestNotedApart(SqliteReference):
    database_class = Pointing

    def put(self, *arguments: Any) -> Any:
        answer = super().put(*arguments)
        place = answer["configurable"]
        key = (place["thread_id"], place["checkpoint_ns"])
        with self.database.writing():
            ((newest,),) = self.database.rows(
                "SELECT max(id) FROM checkpoints WHERE thread = ? AND ns = ?", *key
            )
            self.database.run("INSERT OR REPLACE INTO latest VALUES (?, ?, ?)", *key, newest)
        return answer

    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config) is None:
            key = (self._thread_of(config), self._get_ns(config))
            noted = self.database.rows("SELECT id FROM latest WHERE thread = ? AND ns = ?", *key)
            rows = [row for (id,) in noted for row in self._rows(PLACE, *key, id)]
            if rows:
                return rows[0]
        return super()._find(config)


@wrong(IN_FLIGHT, "the first row of a batch is committed apart from the others", also={POWER})
class FirstRowCommittedApart(SqliteReference):
    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, rows[:1])
        self.database.commit()
        self.database.begin()
        super()._insert_writes(place, rows[1:])


@wrong(IN_FLIGHT, "a thread's checkpoints are deleted in one transaction, its writes in another")
class WritesDeletedApart(DeleteInTwoTransactions):
    """What it leaves when it is killed between the two; a failure leaves the same."""


@wrong(IN_FLIGHT, "a put first deletes what it replaces, in a transaction of its own", also={POWER})
class ReplacedIsDeletedApart(SqliteReference):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        address = (row.thread, row.ns, row.id)
        self.database.run(f"DELETE FROM checkpoints WHERE {PLACE}", *address)
        self.database.commit()
        self.database.begin()
        super()._insert_checkpoint(row)


class WithoutATransaction(Database):
    def begin(self) -> None:
        return

    def commit(self) -> None:
        return


@wrong(IN_FLIGHT, "isolation_level=None and no BEGIN: each row is a transaction", also={POWER})
class RowsCommittedOneByOne(SqliteReference):
    database_class = WithoutATransaction


@wrong(IN_FLIGHT, "a thread's checkpoints are deleted one by one", also={POWER})
class DeletedOneByOne(SqliteReference):
    def _delete(self, thread: str) -> None:
        for row in self._rows("thread = ?", thread):
            self._delete_row(row)
            self.database.commit()
            self.database.begin()
        super()._delete(thread)


# -- no-gaps ------------------------------------------------------------------------------


@wrong(
    "durability/no-gaps",
    "a put is stored with the next one, its writes at once",
    # What was lost before looks like a part of the deletion in flight.
    also={ACKNOWLEDGED, IN_FLIGHT, *LOST},
)
class PutsBehindTheirWrites(WriteBehind):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = CheckpointRow(
            self._thread_of(config),
            self._put_ns(config),
            checkpoint["id"],
            self._parent_of(config),
            self._dump(checkpoint),
            self._dump_metadata(self._merged_metadata(config, metadata)),
            {},
        )
        self._wait()
        self.__dict__["waiting"] = row
        return self._put_answer(config, row)

    def _wait(self) -> None:
        row = self.__dict__.pop("waiting", None)
        if row is not None:
            with self.database.writing():
                super()._insert_checkpoint(row)

    def close(self) -> None:
        if not self.is_clone:
            self._wait()
        super().close()
