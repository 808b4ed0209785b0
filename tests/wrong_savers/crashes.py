"""Savers that lose or tear what they acknowledged when their process dies."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

from tests.reference.database import Database
from tests.reference.saver import ReferenceSaver
from tests.reference.sqlite import SqliteReference
from tests.reference.store import CheckpointRow, Shelf, Store, WriteRow
from tests.wrong_savers.registry import wrong
from tests.wrong_savers.transactions import CommittingLater

ACKNOWLEDGED = "durability/acknowledged-survives"
IN_FLIGHT = "durability/in-flight-atomic"
REOPENS = "durability/reopens"
POWER = "durability/power-cut"
# What is lost cannot be resumed from, and a later operation may have survived it.
LOST = {"durability/resume", "durability/no-rerun", "durability/no-gaps", POWER}
Place = tuple[str, str, str]


# -- acknowledged-survives ----------------------------------------------------------------


class CommittingEveryThird(Database):
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

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            yield

    def close(self) -> None:
        try:
            if self.connection.in_transaction:
                self.commit()
        except sqlite3.ProgrammingError:
            return
        super().close()


@wrong(ACKNOWLEDGED, "a commit every third operation, for speed", also=LOST)
class CommitEveryThird(SqliteReference):
    database_class = CommittingEveryThird


@wrong(ACKNOWLEDGED, "the commit comes with the next operation", also=LOST)
class CommitWithTheNextOperation(SqliteReference):
    database_class = CommittingLater


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

    def _selected(self, config: Any) -> Any:
        self._wait()
        return super()._selected(config)

    def _find(self, config: Any) -> Any:
        self._wait()
        return super()._find(config)

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
    ACKNOWLEDGED, "a thread writes behind: put_writes returns before anything is stored", also=LOST
)
class WritesWrittenBehind(WriteBehind):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        self._behind().put(lambda: self._write(place, rows))

    def _write(self, place: Place, rows: Sequence[WriteRow]) -> None:
        with self.database.writing():
            super()._insert_writes(place, rows)


@wrong(ACKNOWLEDGED, "everything is written to the file when the saver is closed", also=LOST)
class WrittenAtClose(ReferenceSaver):
    def close(self) -> None:
        path = self.__dict__.get("path")
        if path is not None:
            write_state(path, self.store)

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(read_state(path))
        saver.__dict__["path"] = path
        return saver


def state_of(store: Store) -> str:
    """The whole store as JSON text."""

    def plain(value: Any) -> Any:
        if isinstance(value, bytes):
            return {"b": b64encode(value).decode()}
        return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value

    return json.dumps(
        {
            "minted": store.minted,
            "shelves": [
                [
                    *(shelf.thread, shelf.ns),
                    [
                        [*plain(astuple(row)[:6]), row.versions]
                        for row in shelf.checkpoints.values()
                    ],
                    [
                        [id, plain(astuple(w))]
                        for id, ws in shelf.writes.items()
                        for w in ws.values()
                    ],
                    [[key, plain(blob)] for key, blob in shelf.values.items()],
                ]
                for shelf in store.shelves.values()
            ],
        }
    )


def read_state(path: Path) -> Store:
    """The store that `state_of` describes, or an empty one."""
    store = Store()
    if not (path / "state.json").exists():
        return store

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return b64decode(value["b"])
        return tuple(whole(item) for item in value) if isinstance(value, list) else value

    state = json.loads((path / "state.json").read_text())
    store.minted = state["minted"]
    for thread, ns, rows, writes, values in state["shelves"]:
        shelf = store.shelves[thread, ns] = Shelf(thread, ns)
        for *fields, versions in rows:
            thread, ns, id, parent, checkpoint, metadata = whole(fields)
            row = CheckpointRow(thread, ns, id, parent, checkpoint, metadata, versions)
            shelf.checkpoints[row.id] = row
        for id, fields in writes:
            write = WriteRow(*whole(fields))
            shelf.writes.setdefault(id, {})[write.task_id, write.index] = write
        shelf.values.update({tuple(key): whole(blob) for key, blob in values})
    return store


def write_state(path: Path, store: Store) -> None:
    """Rewrite the state file in place."""
    with (path / "state.json").open("w") as file:
        file.write(state_of(store))


class StateFile(ReferenceSaver):
    """Writes its whole store to a file after each change."""

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(read_state(path))
        saver.__dict__["path"] = path
        return saver

    def _save(self) -> None:
        write_state(self.__dict__["path"], self.store)

    def put(self, *args: Any, **options: Any) -> Any:
        answer = super().put(*args, **options)
        self._save()
        return answer

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        self._save()

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self._save()

    def delete_for_runs(self, run_ids: Any) -> None:
        super().delete_for_runs(run_ids)
        self._save()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self._save()

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        self._save()


# -- in-flight-atomic ---------------------------------------------------------------------


@wrong(IN_FLIGHT, "the first row of a batch is committed apart from the others", also={POWER})
class FirstRowCommittedApart(SqliteReference):
    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, rows[:1])
        self.database.commit()
        self.database.begin()
        super()._insert_writes(place, rows[1:])


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
    "puts are written behind, their writes at once",
    also={ACKNOWLEDGED, *LOST},
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
        self._behind().put(lambda: self._store(row))
        return self._put_answer(config, row)

    def _store(self, row: CheckpointRow) -> None:
        with self.database.writing():
            super()._insert_checkpoint(row)


# -- reopens ------------------------------------------------------------------------------


@wrong(
    REOPENS, "the state file is truncated and written anew", also={*LOST, ACKNOWLEDGED, IN_FLIGHT}
)
class StateFileInPlace(StateFile):
    """Nothing but what `StateFile` does."""


class WithoutAJournal(Database):
    journal_mode = "OFF"


@wrong(REOPENS, "PRAGMA journal_mode=OFF, for speed", also={*LOST, IN_FLIGHT})
class NoJournal(SqliteReference):
    database_class = WithoutAJournal


class Marking(Database):
    """A file beside the database says that a change is under way."""

    def connect(self) -> sqlite3.Connection:
        if self._mark().exists():
            raise sqlite3.DatabaseError("the store was not closed; run the repair command")
        return super().connect()

    def _mark(self) -> Path:
        return self.path.with_suffix(".dirty")

    def begin(self) -> None:
        self._mark().touch(0o600)
        super().begin()

    def commit(self) -> None:
        super().commit()
        self._mark().unlink(missing_ok=True)

    def roll_back(self) -> None:
        super().roll_back()
        self._mark().unlink(missing_ok=True)


@wrong(REOPENS, "a store that was not closed is opened only after a repair by hand", also=LOST)
class RepairedByHand(SqliteReference):
    database_class = Marking


# -- resume, no-rerun ---------------------------------------------------------------------

# Recovery runs whenever the store is opened.
OPENED = {"lifecycle/reopen", ACKNOWLEDGED}


@wrong(
    "durability/no-rerun",
    "pending writes wait in memory for the next put",
    also={*OPENED, "durability/resume", "durability/no-gaps"},
)
class WritesWaitForThePut(SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        rows = self._rows_of_batch(writes, task_id, task_path)
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        self.__dict__.setdefault("waiting", []).append((place, rows))

    def _flush(self) -> None:
        waiting = self.__dict__.pop("waiting", [])
        if waiting:
            with self.database.writing():
                for place, rows in waiting:
                    self._insert_writes(place, rows)

    def put(self, *args: Any, **options: Any) -> Any:
        self._flush()
        return super().put(*args, **options)

    def get_tuple(self, config: Any) -> Any:
        self._flush()
        return super().get_tuple(config)

    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        self._flush()
        return super().get_delta_channel_history(config=config, channels=channels)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._flush()
        super().copy_thread(source_thread_id, target_thread_id)

    def close(self) -> None:
        self._flush()
        super().close()

    def list(self, config: Any, **options: Any) -> Any:
        self._flush()
        yield from super().list(config, **options)

    def delete_thread(self, thread_id: str) -> None:
        self._flush()
        super().delete_thread(thread_id)


@wrong(
    "durability/no-rerun",
    "on opening, what was pending is cleared away",
    also={*OPENED, "durability/resume", "durability/no-gaps"},
)
class PendingClearedOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            self.database.run("DELETE FROM writes")


@wrong(
    "durability/resume",
    "on opening, what the nodes have seen is forgotten, so that they run again",
    also={*OPENED, "durability/no-rerun"},
)
class SeenForgottenOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            for row in self._rows():
                checkpoint = {**self._load(row.checkpoint), "versions_seen": {}}
                self._insert_checkpoint(
                    CheckpointRow(
                        *(row.thread, row.ns, row.id, row.parent),
                        self._dump(checkpoint),
                        row.metadata,
                        {},
                    )
                )


@wrong(
    "durability/resume",
    "on opening, the newest checkpoint is taken for half written, and deleted",
    also={*OPENED, "durability/no-rerun", "durability/no-gaps"},
)
class NewestDeletedOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            newest = {(row.thread, row.ns): row for row in sorted(self._rows(), key=lambda r: r.id)}
            for row in newest.values():
                self._delete_row(row)


# -- power-cut ----------------------------------------------------------------------------


class Unsynced(Database):
    synchronous = "OFF"


@wrong(POWER, "PRAGMA synchronous=OFF, for speed")
class NeverSynced(SqliteReference):
    database_class = Unsynced


class UnsyncedRollback(Database):
    journal_mode = "DELETE"
    synchronous = "OFF"


@wrong(POWER, "PRAGMA synchronous=OFF with a rollback journal")
class RollbackJournalNeverSynced(SqliteReference):
    database_class = UnsyncedRollback
