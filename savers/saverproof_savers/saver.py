"""``SqliteSaver``: every operation of LangGraph's checkpointers on one SQLite database."""

import os
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.aio import run_in
from saverproof_savers.codec import Address
from saverproof_savers.core import SaverCore
from saverproof_savers.files import OpenOptions
from saverproof_savers.json_serde import strict_serializer
from saverproof_savers.schema import TableNames
from saverproof_savers.stores import GivenStore, open_store

if TYPE_CHECKING:
    from langgraph.checkpoint.base import DeltaChannelHistory


def _serializer(
    serde: SerializerProtocol | None, allowed_types: Iterable[type] | None
) -> SerializerProtocol | None:
    if allowed_types is None:
        return serde
    if serde is not None:
        raise ValueError("serde and allowed_types: found both, expected one of them")
    return strict_serializer(allowed_types)


class SqliteSaver(SaverCore):
    """A saver that stores checkpoints in SQLite, with the sync and the async API.

    ``SqliteSaver.open(path)`` opens a file of its own. ``SqliteSaver(connection)`` works on a
    connection that its owner keeps: it never closes the connection and changes no setting of it.
    Open such a connection with ``check_same_thread=False`` if the graph runs in threads or is
    async.

    Every write is one transaction, committed when the call returns. Threads, tasks and processes
    may share a database. Iterating over ``list`` holds neither a lock nor a transaction.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        serde: SerializerProtocol | None = None,
        allowed_types: Iterable[type] | None = None,
        tables: TableNames | None = None,
    ) -> None:
        """Use a connection that its owner keeps. The options are those of ``open``.

        Raises:
            SchemaError: as ``open`` does.
        """
        super().__init__(serde=_serializer(serde, allowed_types))
        self._start(GivenStore(connection), tables or TableNames())

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        serde: SerializerProtocol | None = None,
        allowed_types: Iterable[type] | None = None,
        tables: TableNames | None = None,
        busy_timeout_ms: int = 5000,
        synchronous: str = "FULL",
    ) -> Self:
        """Open the database at ``path``, and create it, for its owner alone, if there is none.

        The saver is a context manager, ``with`` and ``async with``.

        Args:
            path: the file; ":memory:" is a database that lasts as long as the saver is open.
            serde: how values are encoded; by default LangGraph's JsonPlusSerializer.
            allowed_types: strict reading: objects of these types (and of LangGraph's safe ones)
                are built, everything else comes back as plain data. Instead of ``serde``.
            tables: the names of the tables.
            busy_timeout_ms: how long to wait for another connection's lock, in milliseconds.
            synchronous: "FULL": what was acknowledged survives a power cut. "NORMAL": it survives
                a crash of the process; a power cut may take the last ones. "OFF": a power cut may
                destroy the file. "EXTRA" is as FULL here.

        Raises:
            sqlite3.Error: the database cannot be opened; the text names the file and the cause.
            SchemaError: it holds tables of other making under these names, or of a newer version.
            ValueError: an option is not one of those above.
        """
        options = OpenOptions(busy_timeout_ms=busy_timeout_ms, synchronous=synchronous)
        saver = cls.__new__(cls)
        BaseCheckpointSaver.__init__(saver, serde=_serializer(serde, allowed_types))
        store = open_store(path, options)
        try:
            saver._start(store, tables or TableNames())
        except BaseException:
            store.close()
            raise
        return saver

    def setup(self) -> None:
        """Create the tables, or bring them up to date.

        Opening does it; doing it again is harmless.
        """
        self._store.setup(self.tables)

    async def asetup(self) -> None:
        """Async ``setup``."""
        await run_in(self._store.pool_for_writes(), self.setup)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, or replace the one with its id. Its pending writes stay.

        Returns the config that reads it back. If the serializer cannot hold a value, or SQLite
        fails, the error is raised and nothing is stored.
        """
        address, work = self._putting(config, checkpoint, metadata, new_versions)
        self._store.write(work)
        return address

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Async ``put``."""
        address, work = self._putting(config, checkpoint, metadata, new_versions)
        await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))
        return address

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of one task, all or none.

        A regular write that is there already, by task and index, keeps its first value. An error,
        scheduled, interrupt or resume write replaces the earlier one. The checkpoint may come
        later.
        """
        if writes:
            self._store.write(self._putting_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Async ``put_writes``."""
        if writes:
            work = self._putting_writes(config, writes, task_id, task_path)
            await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the latest of its thread and namespace.

        Raises:
            UndecodableError: the stored row cannot be decoded.
        """
        return self._get(Address.of(config), self.serde)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Async ``get_tuple``."""
        address, serde = Address.of(config), self.serde
        return await run_in(self._store.pool_for_reads(), lambda: self._get(address, serde))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first, over all namespaces and threads that the config allows.

        Each checkpoint is read as a whole. What is put or deleted meanwhile may or may not be seen.
        """
        listing = self._listing(config, filter, before, limit)

        def checkpoints() -> Iterator[CheckpointTuple]:
            while chunk := listing.next_chunk():
                yield from listing.decode(chunk)

        return checkpoints()

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Async ``list``."""
        listing = self._listing(config, filter, before, limit)
        while chunk := await run_in(self._store.pool_for_reads(), listing.next_chunk):
            for found in listing.decode(chunk):
                yield found

    def delete_thread(self, thread_id: str) -> None:
        """Remove the thread's checkpoints, writes and values. An unknown thread is no error."""
        self._store.write(self._deleting_thread(thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """Async ``delete_thread``."""
        work = self._deleting_thread(thread_id)
        await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints whose metadata name one of these runs, with their writes.

        Values that other runs' checkpoints use stay, and so does whatever their delta channels are
        rebuilt from: checkpoints of these runs, with their writes.
        """
        self._store.write(self._deleting_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Async ``delete_for_runs``."""
        work = self._deleting_runs(run_ids)
        await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a whole thread to a new one.

        Raises:
            ValueError: the target holds data.
        """
        self._store.write(self._copying_thread(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Async ``copy_thread``."""
        work = self._copying_thread(source_thread_id, target_thread_id)
        await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove old checkpoints of these threads.

        "keep_latest" keeps the newest of each namespace and the ancestors from which its delta
        channels are rebuilt; namespaces of finished subgraph calls go. "delete" removes everything.
        """
        self._store.write(self._pruning(thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Async ``prune``."""
        work = self._pruning(thread_ids, strategy)
        await run_in(self._store.pool_for_writes(), lambda: self._store.write(work))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> "dict[str, DeltaChannelHistory]":
        """Return each channel's nearest stored value among the ancestors, and the writes since."""
        if not channels:
            return {}
        return self._get_delta(Address.of(config), list(channels), self.serde)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> "dict[str, DeltaChannelHistory]":
        """Async ``get_delta_channel_history``."""
        if not channels:
            return {}
        address, wanted, serde = Address.of(config), list(channels), self.serde
        return await run_in(
            self._store.pool_for_reads(), lambda: self._get_delta(address, wanted, serde)
        )
