"""Savers that break when they are opened, set up or first used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore, Shelf
from saverproof.mistakes.registry import mistake

REOPEN = "lifecycle/reopen"


# Data that reopening loses is also lost when the saver is set up or closed again.
SEEN_LATER = {"lifecycle/setup-idempotent", "lifecycle/close-idempotent"}


# -- reopen -------------------------------------------------------------------------------


@mistake(REOPEN, "everything lives in the instance", also=SEEN_LATER)
class NothingIsKept(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(ReferenceStore())


@mistake(REOPEN, "pending writes live in memory: the run will be over soon", also=SEEN_LATER)
class WritesOnlyInMemory(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        for shelf in saver.store.shelves.values():
            shelf.writes.clear()
        return saver


@mistake(
    REOPEN, "the pointer to the latest lives in memory, and is not found again", also=SEEN_LATER
)
class LatestOnlyInMemory(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        known = self.__dict__.get("put_here", set())
        return super()._latest(shelf) if (shelf.thread, shelf.ns) in known else None

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self.__dict__.setdefault("put_here", set()).add((shelf.thread, shelf.ns))
        super()._store_checkpoint(shelf, row)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        self.__dict__.setdefault("put_here", set()).add((copy.thread, copy.ns))
        super()._copy_shelf(shelf, copy)


@mistake(REOPEN, "the last change is flushed by the next one, and never by close", also=SEEN_LATER)
class LastPutIsLost(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        if last := saver.store.extra.pop("last", None):
            shelf, id = last
            shelf.checkpoints.pop(id, None)
        return saver

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self.store.extra["last"] = (shelf, row.id)
        super()._store_checkpoint(shelf, row)


@mistake(
    REOPEN,
    "what was stored is written by the next read, and never by close",
    also={"lifecycle/savers-by-turns"},
)
class UnreadIsLost(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        if (read := saver.store.extra.pop("read", None)) is not None:
            saver.store.shelves = read
        return saver

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        shelves = self.store.shelves
        self.store.extra.setdefault("read", {key: _copy(each) for key, each in shelves.items()})
        return super()._shelf_for_writing(thread, ns)

    def _find(self, config: RunnableConfig) -> CheckpointRow | None:
        self.store.extra.pop("read", None)
        return super()._find(config)

    def _page(self, *asked: Any) -> list[CheckpointRow]:
        self.store.extra.pop("read", None)
        return super()._page(*asked)


def _copy(shelf: Shelf) -> Shelf:
    return replace(
        shelf,
        checkpoints=dict(shelf.checkpoints),
        writes={id: dict(rows) for id, rows in shelf.writes.items()},
        values=dict(shelf.values),
    )


@mistake(
    REOPEN, "nested namespaces are taken for part of one run, and kept in memory", also=SEEN_LATER
)
class NestedOnlyInMemory(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        saver.store.shelves = {k: s for k, s in saver.store.shelves.items() if s.ns == ""}
        return saver


# -- setup --------------------------------------------------------------------------------

# The saver sets itself up when it is opened, so that opening it again does the harm.
AGAIN = {REOPEN, "lifecycle/close-idempotent"}
FIRST = {"lifecycle/any-first-operation"}


@mistake("lifecycle/setup-idempotent", "DROP TABLE IF EXISTS; CREATE TABLE", also=AGAIN)
class SetupDropsTables(ReferenceSaver):
    def setup(self) -> None:
        self.store.shelves.clear()


@mistake(
    "lifecycle/setup-idempotent", "the writes table was added later, and is made anew", also=AGAIN
)
class SetupEmptiesWrites(ReferenceSaver):
    def setup(self) -> None:
        for shelf in self.store.shelves.values():
            shelf.writes.clear()


@mistake(
    "lifecycle/setup-idempotent", "writes without a checkpoint are swept away at set-up", also=AGAIN
)
class SetupSweepsEarlyWrites(ReferenceSaver):
    def setup(self) -> None:
        for shelf in self.store.shelves.values():
            for id in shelf.writes.keys() - shelf.checkpoints.keys():
                del shelf.writes[id]


@mistake("lifecycle/setup-idempotent", "CREATE TABLE without IF NOT EXISTS", also={*AGAIN, *FIRST})
class SetupTwiceRaises(ReferenceSaver):
    def setup(self) -> None:
        if self.store.extra.get("tables"):
            raise ValueError("table checkpoints already exists")
        self.store.extra["tables"] = True


@mistake(
    "lifecycle/setup-idempotent", "the migration runs again on the same connection", also=FIRST
)
class SetupMigratesAgain(ReferenceSaver):
    def setup(self) -> None:
        if self.__dict__.get("ready"):
            raise ValueError("duplicate column name: task_path")
        self.__dict__["ready"] = True


# -- any-first-operation ------------------------------------------------------------------


class Tables(ReferenceSaver):
    """A base saver that has no tables until something is put."""

    def _require_tables(self) -> None:
        if not self.store.extra.get("tables"):
            raise ValueError("no such table: checkpoints")

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        self.store.extra["tables"] = True
        return super()._shelf_for_writing(thread, ns)


@mistake(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a delete finds none",
    also={"deletion/thread-all"},
)
class DeleteBeforePutRaises(Tables):
    def delete_thread(self, thread_id: str) -> None:
        self._require_tables()
        super().delete_thread(thread_id)


@mistake(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a list finds none",
    also={"identity/unknown-is-none"},
)
class ListBeforePutRaises(Tables):
    def _selected(self, config: Any) -> list[CheckpointRow]:
        self._require_tables()
        return super()._selected(config)


@mistake(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a read finds none",
    also={"identity/unknown-is-none"},
)
class GetBeforePutRaises(Tables):
    def _find(self, config: Any) -> CheckpointRow | None:
        self._require_tables()
        return super()._find(config)


@mistake(
    "lifecycle/any-first-operation",
    "the writes table is made by the first put",
    also={"pending-writes/early-writes-kept"},
)
class WritesBeforePutRaise(Tables):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self._require_tables()
        super().put_writes(config, writes, task_id, task_path)


class SetUpOnUse(ReferenceSaver):
    """A base saver that sets itself up in put, in put_writes and in reads."""

    def setup(self) -> None:
        self.store.extra["tables"] = True

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        self.setup()
        return super()._shelf_for_writing(thread, ns)

    def _page(self, *narrowing: Any) -> list[CheckpointRow]:
        self.setup()
        return super()._page(*narrowing)

    def _find(self, config: Any) -> CheckpointRow | None:
        self.setup()
        return super()._find(config)


@mistake(
    "lifecycle/any-first-operation-before-setup",
    "delete_thread alone does not set the store up",
    also={"deletion/thread-all"},
    setup=False,
)
class DeleteBeforeSetupRaises(SetUpOnUse):
    def delete_thread(self, thread_id: str) -> None:
        if not self.store.extra.get("tables"):
            raise ValueError("no such table: checkpoints")
        super().delete_thread(thread_id)


@mistake(
    "lifecycle/any-first-operation-before-setup",
    "put_writes takes the tables for granted",
    also={"pending-writes/early-writes-kept"},
    setup=False,
)
class WritesBeforeSetupRaise(SetUpOnUse):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if not self.store.extra.get("tables"):
            raise ValueError("no such table: writes")
        super().put_writes(config, writes, task_id, task_path)
