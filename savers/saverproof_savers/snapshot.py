"""``SnapshotSqliteSaver``: LangGraph's saver in memory, whose whole state is one row of a file."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Self, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers import snapshot_removing as removing
from saverproof_savers.aio import run_in
from saverproof_savers.codec import make_config
from saverproof_savers.errors import SchemaError
from saverproof_savers.files import MEMORY, OpenOptions
from saverproof_savers.lifetime import Closing
from saverproof_savers.pruning import check_strategy
from saverproof_savers.search import ListCriteria
from saverproof_savers.snapshot_memory import SnapshotMemory
from saverproof_savers.snapshot_state import (
    ancestry,
    create_table,
    is_ready,
    namespace_of,
    searched,
)
from saverproof_savers.stores import open_store

T = TypeVar("T")


class SnapshotSqliteSaver(Closing, SnapshotMemory):
    """A saver that keeps all threads in memory, and writes them as one row at each write.

    It is simple, and its file easy to carry about. It is for small stores, since every write costs
    as much as the store is large. Each write is one transaction on the newest state, so several
    threads and processes may share the file. Values are never pickled.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        journal_mode: str = "WAL",
        busy_timeout_ms: int = 5000,
        *,
        synchronous: str = "FULL",
        serde: SerializerProtocol | None = None,
    ) -> None:
        """Open the file and load its state.

        A missing file is made with its folders, for its owner alone.

        Errors name the file and the cause.

        Raises:
            sqlite3.Error: the file cannot be opened or read.
            SchemaError: the state has another encoding.
            UndecodableError: the state is damaged.
        """
        super().__init__(serde=serde)
        options = OpenOptions(busy_timeout_ms, synchronous, journal_mode)
        if os.fspath(path) != MEMORY:
            _make_folders(os.path.dirname(os.fspath(path)))
        self._store = open_store(path, options)
        self._is_clone = False
        self._start_anew()
        try:
            self.setup()
        except BaseException:
            self._store.close()
            raise

    @property
    def path(self) -> str | None:
        """The path of the database file; None for a database in memory."""
        return self._store.path

    def setup(self) -> None:
        """Create the table, and load what it holds. Opening does it; doing it again is harmless."""
        try:
            if not self._store.read(is_ready):
                self._store.write(create_table)
        except SchemaError as error:
            raise SchemaError(f"{self._store.where}: {error}") from None
        self._reading(lambda _: None)

    def close(self) -> None:
        """Close the file. Closing twice, or closing a clone, does nothing."""
        if not self._is_clone:
            self._store.close()

    def __copy__(self) -> Self:
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._is_clone = True
        clone._start_anew()
        return clone

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the latest of its namespace."""

        def find(own: Self) -> CheckpointTuple | None:
            # InMemorySaver would keep an empty dictionary for what it does not know.
            if not namespace_of(own._state(), config):
                return None
            return own._decoded(config, InMemorySaver.get_tuple)

        return self._reading(find)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first, as they are at the time of the call."""
        search = ListCriteria.of(config, filter, before, limit)

        def find(own: Self) -> Sequence[CheckpointTuple]:
            found = (
                own._decoded(make_config(*place), InMemorySaver.get_tuple)
                for place in searched(own._state(), config, search)
            )
            fitting = (each for each in found if each and search.matches(each.metadata))
            return tuple(islice(fitting, None if limit is None else max(limit, 0)))

        return iter(self._reading(find))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and the whole state with it."""
        return self._writing(
            lambda own: InMemorySaver.put(own, config, checkpoint, metadata, new_versions)
        )

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of one task, all or none, and the whole state with them."""
        if writes:
            self._writing(
                lambda own: InMemorySaver.put_writes(own, config, writes, task_id, task_path)
            )

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread. An unknown one is no error."""
        self._writing(lambda own: InMemorySaver.delete_thread(own, thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints whose metadata name one of these runs, with their writes."""
        wanted = frozenset(map(str, run_ids))
        self._writing(lambda own: removing.delete_for_runs(own._state(), own.serde, wanted))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a whole thread to a new one.

        Raises:
            ValueError: the target holds data.
        """
        source, target = source_thread_id, target_thread_id
        if source != target:
            self._writing(lambda own: removing.copy_thread(own._state(), source, target))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove old checkpoints of these threads, as ``SqliteSaver.prune`` does."""
        check_strategy(strategy)

        def work(own: Self) -> None:
            for thread_id in dict.fromkeys(thread_ids):
                if strategy == "delete":
                    InMemorySaver.delete_thread(own, thread_id)
                else:
                    removing.prune(own._state(), own.serde, thread_id)

        self._writing(work)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Any:
        """Return each channel's nearest stored value among the ancestors, and the writes since."""

        def find(own: Self) -> Any:
            line = InMemorySaver(serde=own.serde)
            state = ancestry(own._state(), config)
            line.storage, line.writes, line.blobs = state.storage, state.writes, state.blobs
            base = line.get_delta_channel_history
            return own._decoded(config, lambda _, config: base(config=config, channels=channels))

        return self._reading(find)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Async ``get_tuple``."""
        return await self._in_thread(lambda: self.get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Async ``list``."""
        for found in await self._in_thread(
            lambda: self.list(config, filter=filter, before=before, limit=limit)
        ):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Async ``put``."""
        return await self._in_thread(lambda: self.put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Async ``put_writes``."""
        await self._in_thread(lambda: self.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Async ``delete_thread``."""
        await self._in_thread(lambda: self.delete_thread(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Async ``delete_for_runs``."""
        await self._in_thread(lambda: self.delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Async ``copy_thread``."""
        await self._in_thread(lambda: self.copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Async ``prune``."""
        await self._in_thread(lambda: self.prune(thread_ids, strategy=strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Any:
        """Async ``get_delta_channel_history``."""
        return await self._in_thread(
            lambda: self.get_delta_channel_history(config=config, channels=channels)
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await run_in(self._store.pool_for_writes(), work)


def _make_folders(folder: str) -> None:
    # os.makedirs applies its mode to the last folder only.
    if folder and not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
