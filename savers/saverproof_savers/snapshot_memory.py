"""LangGraph's saver in memory, brought up to date with a file before each operation."""

import copy
import os
import threading
import weakref
from collections.abc import Callable
from sqlite3 import Cursor
from typing import Self, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from saverproof_savers.connection import Database
from saverproof_savers.errors import SchemaError, UndecodableError, explain
from saverproof_savers.snapshot_state import (
    SaverState,
    load,
    named,
    save,
    stored_revision,
    undecodable,
)

T = TypeVar("T")

_MEMORIES: "weakref.WeakSet[SnapshotMemory]" = weakref.WeakSet()


class SnapshotMemory(InMemorySaver):
    """The file's state when it was last read. Threads may share it, also across a fork."""

    _store: Database

    def _start_anew(self) -> None:
        """Begin with an empty memory, which is read from the file at the first use, and with a new
        lock.
        """
        self._lock = threading.RLock()
        self._busy = False
        self._revision: int | None = None
        _MEMORIES.add(self)

    def _reading(self, work: Callable[[Self], T]) -> T:
        """Do ``work`` on the newest state of the file."""

        def read(own: Self) -> T:
            own._store.read(own._refresh)
            return work(own)

        return self._alone(read)

    def _writing(self, work: Callable[[Self], T]) -> T:
        """Do ``work`` on the newest state of the file, and store the outcome in its place."""

        def write(own: Self) -> T:
            def change(cursor: Cursor) -> tuple[T, int | None]:
                own._refresh(cursor)
                # Until the change is known to be stored, the memory cannot be relied on.
                own._revision = None
                return work(own), save(cursor, own._state())

            result, own._revision = own._store.write(change)
            return result

        return self._alone(write)

    def _alone(self, work: Callable[[Self], T]) -> T:
        with self._lock:
            if self._busy:
                # A serializer, a signal handler or a finalizer has called the saver in the middle
                # of one of its operations, whose memory must not change.
                return work(copy.copy(self))
            try:
                self._busy = True
                return work(self)
            finally:
                self._busy = False

    def _decoded(self, config: RunnableConfig, read: Callable[[Self, RunnableConfig], T]) -> T:
        place = named(self._state(), config)
        try:
            return read(self, config)
        except Exception as cause:
            error = undecodable(place, cause)
            explain(error, self._store.where)
            raise error from cause

    def _state(self) -> SaverState:
        return SaverState(self.storage, self.writes, self.blobs)

    def _refresh(self, cursor: Cursor) -> None:
        try:
            if self._revision is not None and stored_revision(cursor) == self._revision:
                return
            revision, state = load(cursor)
        except SchemaError as error:
            raise SchemaError(f"{self._store.where}: {error}") from None
        except (TypeError, ValueError) as error:
            raise UndecodableError(
                f"{self._store.where}: the state in table checkpoint_state cannot be decoded: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._revision = None
        self.storage, self.writes, self.blobs = state.storage, state.writes, state.blobs
        self._revision = revision


def _after_fork_in_child() -> None:
    # A thread that is not in the child may hold the lock, in the middle of changing the memory.
    for memory in list(_MEMORIES):
        memory._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
