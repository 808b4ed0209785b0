"""Savers that break when a listing is abandoned, or when they are cloned or closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Hashable
from contextlib import suppress
from time import sleep
from typing import Any, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

_NAP_S = 0.02
"""How long one that waits for ever sleeps at a time: a watchdog's exception ends it in between."""

# -- abandoned-list -----------------------------------------------------------------------


@mistake("lifecycle/abandoned-list", "a cursor that is read to its end, or stays busy")
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


@mistake("lifecycle/abandoned-list", "acquire, yield, release: no finally", hangs=True)
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


@mistake(
    "lifecycle/abandoned-list",
    "closing the cursor awaits, and nobody waits for that: the lock is not released",
    hangs=True,
)
class AbandonedListAwaits(AbandonedListHoldsTheLock):
    def list(self, config: Any, **options: Any) -> Any:
        self._acquire()
        try:
            yield from ReferenceSaver.list(self, config, **options)
        except GeneratorExit:
            try:
                asyncio.get_event_loop_policy().get_event_loop()
            except RuntimeError:
                self._gate().release()
            raise
        self._gate().release()


@mistake(
    "lifecycle/abandoned-list", "one cursor: the next list goes on where the last one was left"
)
class AbandonedListGoesOn(ReferenceSaver):
    def list(self, config: Any, **options: Any) -> Any:
        rest = self.__dict__.setdefault("rest", [])
        if not rest:
            rest.extend(super().list(config, **options))
        while rest:
            yield rest.pop(0)


@mistake(
    "lifecycle/abandoned-list", "closing waits for listings that nobody goes on with", hangs=True
)
class AbandonedListKeepsItOpen(ReferenceSaver):
    def list(self, config: Any, **options: Any) -> Any:
        self.__dict__["listing"] = self.__dict__.get("listing", 0) + 1
        yield from super().list(config, **options)
        self.__dict__["listing"] -= 1

    def close(self) -> None:
        while self.__dict__.get("listing"):
            sleep(_NAP_S)


# -- shallow-clone ------------------------------------------------------------------------


class Connected(ReferenceSaver):
    """A base saver whose copies share its connection."""

    def __init__(self, store: ReferenceStore | None = None, *, serde: Any = None) -> None:
        super().__init__(store, serde=serde)
        self.connection = {"open": True}

    def close(self) -> None:
        self.connection["open"] = False

    def _shelf_key(self, thread: str, ns: str) -> Any:
        if not self.connection["open"]:
            raise ValueError("Cannot operate on a closed database.")
        return super()._shelf_key(thread, ns)


@mistake("lifecycle/shallow-clone", "__del__ closes the connection that the clone shares")
class DroppedCloneCloses(Connected):
    def __del__(self) -> None:
        # Python only prints what is raised here, as where another mistake is one of closing.
        with suppress(Exception):
            self.close()


@mistake(
    "lifecycle/shallow-clone",
    "an index is rebound, not changed: the clone's stays its own",
    # So does that of another saver on the store.
    also={"lifecycle/savers-by-turns"},
)
class CloneHasItsOwnIndex(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        index = self._latest_of()
        self.__dict__["index"] = {**index, (shelf.thread, shelf.ns): max(shelf.checkpoints)}

    def _latest_of(self) -> dict[Any, str]:
        if "index" not in self.__dict__:
            shelves = [shelf for shelf in self._all_shelves() if shelf.checkpoints]
            self.__dict__["index"] = {(s.thread, s.ns): max(s.checkpoints) for s in shelves}
        index: dict[Any, str] = self.__dict__["index"]
        return index

    def setup(self) -> None:
        self._latest_of()

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        self.__dict__["index"] = {**self._latest_of(), (copy.thread, copy.ns): ""}

    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        known = self._latest_of().get((shelf.thread, shelf.ns), "")
        return shelf.checkpoints.get(known) or super()._latest(shelf)


@mistake("lifecycle/shallow-clone", "the clone's writes go to a buffer that only it knows")
class CloneBuffersWrites(ReferenceSaver):
    def __copy__(self) -> Self:
        clone = type(self)(self.store, serde=self.serde)
        clone.__dict__["clone"] = True
        return clone

    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        if not self.__dict__.get("clone"):
            super()._store_write(stored, row)


# -- close-idempotent ---------------------------------------------------------------------


@mistake("lifecycle/close-idempotent", "del self.connection")
class CloseTwiceRaises(ReferenceSaver):
    def close(self) -> None:
        if self.__dict__.get("closed"):
            raise AttributeError("connection")
        self.__dict__["closed"] = True


@mistake("lifecycle/close-idempotent", "close flushes through the connection that it has closed")
class CloseTwiceUsesTheClosed(ReferenceSaver):
    def close(self) -> None:
        if not self.__dict__.setdefault("open", True):
            raise ValueError("Cannot operate on a closed database.")
        self.__dict__["open"] = False


@mistake(
    "lifecycle/close-idempotent",
    "close asks its thread to end and waits for the answer of one that has ended",
    hangs=True,
)
class CloseTwiceWaits(ReferenceSaver):
    def close(self) -> None:
        while self.__dict__.get("ended"):
            sleep(_NAP_S)
        self.__dict__["ended"] = True
