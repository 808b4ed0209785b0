"""Savers that opening, setting up, leaving or closing breaks."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Self

from tests.reference.saver import ReferenceSaver
from tests.reference.store import CheckpointRow, Shelf, Store, WriteRow
from tests.wrong_savers.registry import wrong

REOPEN = "lifecycle/reopen"


# -- reopen -------------------------------------------------------------------------------


@wrong(REOPEN, "everything lives in the instance")
class NothingIsKept(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(Store())


@wrong(REOPEN, "pending writes live in memory: the run will be over soon")
class WritesOnlyInMemory(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        for shelf in saver.store.shelves.values():
            shelf.writes.clear()
        return saver


@wrong(REOPEN, "the pointer to the latest lives in memory, and is not found again")
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


@wrong(REOPEN, "the last change is flushed by the next one, and never by close")
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


@wrong(REOPEN, "nested namespaces are taken for part of one run, and kept in memory")
class NestedOnlyInMemory(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        saver.store.shelves = {k: s for k, s in saver.store.shelves.items() if s.ns == ""}
        return saver


# -- setup --------------------------------------------------------------------------------

# The saver sets itself up when it is opened, so that opening it again does the harm.
AGAIN = {REOPEN}


@wrong("lifecycle/setup-idempotent", "DROP TABLE IF EXISTS; CREATE TABLE", also=AGAIN)
class SetupDropsTables(ReferenceSaver):
    def setup(self) -> None:
        self.store.shelves.clear()


@wrong(
    "lifecycle/setup-idempotent", "the writes table was added later, and is made anew", also=AGAIN
)
class SetupEmptiesWrites(ReferenceSaver):
    def setup(self) -> None:
        for shelf in self.store.shelves.values():
            shelf.writes.clear()


@wrong("lifecycle/setup-idempotent", "CREATE TABLE without IF NOT EXISTS", also=AGAIN)
class SetupTwiceRaises(ReferenceSaver):
    def setup(self) -> None:
        if self.store.extra.get("tables"):
            raise ValueError("table checkpoints already exists")
        self.store.extra["tables"] = True


@wrong("lifecycle/setup-idempotent", "the migration runs again on the same connection")
class SetupMigratesAgain(ReferenceSaver):
    def setup(self) -> None:
        if self.__dict__.get("ready"):
            raise ValueError("duplicate column name: task_path")
        self.__dict__["ready"] = True


# -- any-first-operation ------------------------------------------------------------------


class Tables(ReferenceSaver):
    """Has tables once something was put."""

    def _require_tables(self) -> None:
        if not self.store.extra.get("tables"):
            raise ValueError("no such table: checkpoints")

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        self.store.extra["tables"] = True
        return super()._shelf_for_writing(thread, ns)


@wrong(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a delete finds none",
    also={"deletion/thread-all"},
)
class DeleteBeforePutRaises(Tables):
    def delete_thread(self, thread_id: str) -> None:
        self._require_tables()
        super().delete_thread(thread_id)


@wrong(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a list finds none",
    also={"identity/unknown-is-none"},
)
class ListBeforePutRaises(Tables):
    def _selected(self, config: Any) -> list[CheckpointRow]:
        self._require_tables()
        return super()._selected(config)


@wrong(
    "lifecycle/any-first-operation",
    "made by the first put, tables are missing: a read finds none",
    also={"identity/unknown-is-none"},
)
class GetBeforePutRaises(Tables):
    def _find(self, config: Any) -> CheckpointRow | None:
        self._require_tables()
        return super()._find(config)


@wrong(
    "lifecycle/any-first-operation",
    "the writes table is made by the first put",
    also={"pending-writes/early-writes-kept"},
)
class WritesBeforePutRaise(Tables):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self._require_tables()
        super().put_writes(config, writes, task_id, task_path)


class SetUpOnUse(ReferenceSaver):
    """Sets itself up in put, put_writes and the reads."""

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


@wrong(
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


@wrong(
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


# -- abandoned-list -----------------------------------------------------------------------


@wrong("lifecycle/abandoned-list", "a cursor that is read to its end, or stays busy")
class AbandonedListStaysBusy(ReferenceSaver):
    def list(self, config: Any, **options: Any) -> Any:
        self._require_idle()
        for found in super().list(config, **options):
            self.__dict__["busy"] = True
            yield found
        self.__dict__["busy"] = False

    def put(self, *args: Any, **options: Any) -> Any:
        self._require_idle()
        return super().put(*args, **options)

    def _require_idle(self) -> None:
        if self.__dict__.get("busy"):
            raise ValueError("another row available")


@wrong("lifecycle/abandoned-list", "acquire, yield, release: no finally", hangs=True)
class AbandonedListHoldsTheLock(ReferenceSaver):
    def _gate(self) -> threading.Lock:
        gate: threading.Lock = self.__dict__.setdefault("gate", threading.Lock())
        return gate

    def _acquire(self) -> None:
        # Short waits, so that a watchdog's exception can end this thread.
        while not self._gate().acquire(timeout=0.02):
            continue

    def list(self, config: Any, **options: Any) -> Any:
        self._acquire()
        yield from super().list(config, **options)
        self._gate().release()

    def put(self, *args: Any, **options: Any) -> Any:
        self._acquire()
        try:
            return super().put(*args, **options)
        finally:
            self._gate().release()


@wrong("lifecycle/abandoned-list", "one cursor: the next list goes on where the last one was left")
class AbandonedListGoesOn(ReferenceSaver):
    def list(self, config: Any, **options: Any) -> Any:
        rest = self.__dict__.setdefault("rest", [])
        if not rest:
            rest.extend(super().list(config, **options))
        while rest:
            yield rest.pop(0)


# -- shallow-clone ------------------------------------------------------------------------


class Connected(ReferenceSaver):
    """Holds a connection that a copy shares."""

    def __init__(self, store: Store | None = None, *, serde: Any = None) -> None:
        super().__init__(store, serde=serde)
        self.connection = {"open": True}

    def close(self) -> None:
        self.connection["open"] = False

    def _shelf_key(self, thread: str, ns: str) -> Any:
        if not self.connection["open"]:
            raise ValueError("Cannot operate on a closed database.")
        return super()._shelf_key(thread, ns)


@wrong("lifecycle/shallow-clone", "__del__ closes the connection that the clone shares")
class DroppedCloneCloses(Connected):
    def __del__(self) -> None:
        self.close()


@wrong("lifecycle/shallow-clone", "closing the clone closes the connection that both share")
class ClosedCloneCloses(Connected):
    """Nothing but what `Connected` does."""


@wrong("lifecycle/shallow-clone", "an index is rebound, not changed: the clone's stays its own")
class CloneHasItsOwnIndex(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        index = self._index()
        self.__dict__["index"] = {**index, (shelf.thread, shelf.ns): max(shelf.checkpoints)}

    def _index(self) -> dict[Any, str]:
        if "index" not in self.__dict__:
            shelves = [shelf for shelf in self._all_shelves() if shelf.checkpoints]
            self.__dict__["index"] = {(s.thread, s.ns): max(s.checkpoints) for s in shelves}
        index: dict[Any, str] = self.__dict__["index"]
        return index

    def setup(self) -> None:
        self._index()

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        self.__dict__["index"] = {**self._index(), (copy.thread, copy.ns): ""}

    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        known = self._index().get((shelf.thread, shelf.ns), "")
        return shelf.checkpoints.get(known) or super()._latest(shelf)


@wrong("lifecycle/shallow-clone", "the clone's writes go to a buffer that only it knows")
class CloneBuffersWrites(ReferenceSaver):
    def __copy__(self) -> Self:
        clone = type(self)(self.store, serde=self.serde)
        clone.__dict__["clone"] = True
        return clone

    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        if not self.__dict__.get("clone"):
            super()._store_write(stored, row)


# -- close-idempotent ---------------------------------------------------------------------


@wrong("lifecycle/close-idempotent", "del self.connection")
class CloseTwiceRaises(ReferenceSaver):
    def close(self) -> None:
        if self.__dict__.get("closed"):
            raise AttributeError("connection")
        self.__dict__["closed"] = True


@wrong("lifecycle/close-idempotent", "close flushes through the connection that it has closed")
class CloseTwiceUsesTheClosed(ReferenceSaver):
    def close(self) -> None:
        if not self.__dict__.setdefault("open", True):
            raise ValueError("Cannot operate on a closed database.")
        self.__dict__["open"] = False
