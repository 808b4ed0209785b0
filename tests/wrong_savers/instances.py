"""Savers that keep an answer which another saver on the same store has made untrue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers.registry import wrong

INSTANCES = "concurrency/instances-agree"


class Keeping(SqliteReference):
    """Keeps answers until it writes itself."""

    def _kept(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self.__dict__.setdefault("kept", {})
        return kept

    def put(self, *args: Any, **options: Any) -> Any:
        answer = super().put(*args, **options)
        self._kept().clear()
        return answer

    def put_writes(self, *args: Any, **options: Any) -> None:
        super().put_writes(*args, **options)
        self._kept().clear()

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self._kept().clear()

    def delete_for_runs(self, run_ids: Any) -> None:
        super().delete_for_runs(run_ids)
        self._kept().clear()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self._kept().clear()

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        self._kept().clear()


@wrong(INSTANCES, "that there is nothing of a namespace is kept by the instance that was told so")
class EmptyAnswerKept(Keeping):
    def _find(self, config: Any) -> CheckpointRow | None:
        place = (self._thread_of(config), self._get_ns(config))
        if place in self._kept():
            return None
        found = super()._find(config)
        if found is None and self._asked_id(config) is None:
            self._kept()[place] = True
        return found


@wrong(INSTANCES, "the id of the latest checkpoint is kept by the instance that read it")
class LatestIdKept(Keeping):
    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config) is not None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        known = self._kept().get(place)
        rows = self._rows("thread = ? AND ns = ? AND id = ?", *place, known) if known else []
        found = rows[0] if rows else super()._find(config)
        if found is not None:
            self._kept()[place] = found.id
        return found


class RemembersItsPuts(SqliteReference):
    """Keeps something of each checkpoint that it puts, until the thread is deleted by itself."""

    def _own(self) -> dict[Any, Any]:
        own: dict[Any, Any] = self.__dict__.setdefault("own", {})
        return own

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        for place in [place for place in self._own() if place[0] == str(thread_id)]:
            del self._own()[place]


@wrong(INSTANCES, "the newest checkpoint that the instance put itself is taken for the latest")
class OwnLatestKept(RemembersItsPuts):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        place = (row.thread, row.ns)
        self._own()[place] = max(row.id, self._own().get(place, ""))

    def _find(self, config: Any) -> CheckpointRow | None:
        place = (self._thread_of(config), self._get_ns(config))
        if self._asked_id(config) is None and place in self._own():
            rows = self._rows("thread = ? AND ns = ? AND id = ?", *place, self._own()[place])
            return rows[0] if rows else super()._find(config)
        return super()._find(config)


@wrong(INSTANCES, "a checkpoint that the instance put itself is answered as it was put")
class OwnCheckpointsKept(RemembersItsPuts):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        self._own()[row.thread, row.ns, row.id] = row

    def _find(self, config: Any) -> CheckpointRow | None:
        found = super()._find(config)
        return found and self._own().get((found.thread, found.ns, found.id), found)


@wrong(INSTANCES, "SQLite's count of changes by others is asked for after a read, and kept with it")
class CountAskedForTooLate(Keeping):
    def get_tuple(self, config: Any) -> Any:
        asked = repr(config["configurable"])
        with self.database.lock:
            known, found = self._kept().get(asked, (None, None))
            if known is None or known != self._changes_by_others():
                found = super().get_tuple(config)
                self._kept()[asked] = (self._changes_by_others(), found)
        return found

    def _changes_by_others(self) -> Any:
        return self.database.rows("PRAGMA data_version")


@wrong(INSTANCES, "a listing is kept by the instance that made it")
class ListingKept(Keeping):
    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        asked = repr((config and config["configurable"], options))
        if asked not in self._kept():
            self._kept()[asked] = [*super().list(config, **options)]
        yield from self._kept()[asked]


@wrong(INSTANCES, "what the instances of one process keep, another process does not clear")
class LatestIdKeptByTheProcess(LatestIdKept):
    shared: ClassVar[dict[Any, dict[Any, Any]]] = {}

    def _kept(self) -> dict[Any, Any]:
        return self.shared.setdefault(self.database.path, {})


class WithRevisions(Database):
    """A database that counts the changes of each thread."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS revisions (thread TEXT PRIMARY KEY, number INTEGER)"
        )


@wrong(INSTANCES, "the changes of a thread are counted, and from nothing again once it was deleted")
class ChangesCountedAnew(Keeping):
    """Keeps an answer as long as the count of the thread's changes is the same."""

    database_class = WithRevisions

    def get_tuple(self, config: Any) -> Any:
        with self.database.reading():
            asked = (self._revision(config), repr(config["configurable"]))
            if asked not in self._kept():
                self._kept()[asked] = super().get_tuple(config)
            return self._kept()[asked]

    def _revision(self, config: Any) -> Any:
        thread = self._thread_of(config)
        return (*self.database.rows("SELECT number FROM revisions WHERE thread = ?", thread),)

    def _count(self, thread: str) -> None:
        self.database.run(
            "INSERT INTO revisions VALUES (?, 1) ON CONFLICT DO UPDATE SET number = number + 1",
            thread,
        )

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        self._count(row.thread)

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, rows)
        self._count(place[0])

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        self._count(target)

    def _delete_row(self, row: CheckpointRow) -> None:
        super()._delete_row(row)
        self._count(row.thread)

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self.database.run("DELETE FROM revisions WHERE thread = ?", thread)


@wrong(INSTANCES, "that others have written is told by the size of the file")
class SizeTellsOfChanges(StateFileReference):
    """Does without what changes at every write: the file's number, and its time in nanoseconds."""

    size: int | None = None

    def catch_up(self) -> None:
        file = self.folder / "state.json"
        size = file.stat().st_size if file.exists() else None
        if size is None or size != self.size:
            super().catch_up()
        self.size = size

    def replace(self, data: bytes) -> None:
        super().replace(data)
        self.size = len(data)

    def forget(self) -> None:
        self.size = None
        super().forget()
