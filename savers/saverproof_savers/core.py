"""Each operation of ``SqliteSaver`` as work on a cursor, for the sync and the async API."""

import random
import sqlite3
from collections.abc import Sequence
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

from saverproof_savers import removing
from saverproof_savers.codec import Address, make_config
from saverproof_savers.connection import Database, T, Work
from saverproof_savers.delta import read_delta
from saverproof_savers.lifetime import Closing
from saverproof_savers.listing import ListingState
from saverproof_savers.pruning import check_strategy
from saverproof_savers.queries import Queries
from saverproof_savers.reading import read_one
from saverproof_savers.recent import RecentCheckpoints
from saverproof_savers.schema import TableNames
from saverproof_savers.search import ListCriteria
from saverproof_savers.writing import PutRecord, encode_writes, store_checkpoint

if TYPE_CHECKING:
    from langgraph.checkpoint.base import DeltaChannelHistory


class SaverCore(Closing, BaseCheckpointSaver[Any]):
    """A store, its statements, and every operation up to the point where threads matter.

    The caller's thread prepares the work and serializes values; the store then does it for either
    API.
    """

    _store: Database
    queries: Queries
    recent: RecentCheckpoints
    _is_clone: bool
    tables: TableNames
    """The names of the tables that this saver uses."""

    def _start(self, store: Database, tables: TableNames) -> None:
        self._store = store
        self.queries = Queries.over(tables)
        self._is_clone = False
        self.recent = RecentCheckpoints()
        self.tables = tables
        store.setup(tables)

    @property
    def path(self) -> str | None:
        """The path of the database file; None for a database in memory."""
        return self._store.path

    def close(self) -> None:
        """Close what ``open`` opened.

        Closing twice, closing a clone, or a given connection, does nothing.
        """
        if not self._is_clone:
            self._store.close()

    def transact(self, work: Work[T]) -> T:
        """Do ``work(cursor)`` in one transaction, which is committed or leaves nothing."""
        return self._store.write(work)

    def __copy__(self) -> Self:
        # LangGraph clones savers to give them another serializer. A clone works on the original's
        # store, and leaves closing it to the original.
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._is_clone = True
        return clone

    def get_next_version(self, current: Any, channel: None = None) -> Any:
        """Return the version after ``current``: the next whole number.

        Threads that were imported from another saver keep its form of versions, a text that starts
        with a padded number, because versions of one thread must compare.
        """
        if current is None:
            return 1
        if isinstance(current, str):
            number = int(current.split(".")[0]) + 1
            return f"{number:032}.{random.random():016}"
        return current + 1

    def _putting(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> tuple[RunnableConfig, Work[None]]:
        record = PutRecord.of(self.serde, config, checkpoint, metadata, new_versions)
        parent = record.parent
        address = make_config(parent.thread_id, parent.checkpoint_ns, record.checkpoint_id)
        return address, lambda cursor: store_checkpoint(cursor, self.queries, record, self.recent)

    def _putting_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Work[None]:
        rows = encode_writes(self.serde, config, writes, task_id, task_path)

        def work(cursor: sqlite3.Cursor) -> None:
            cursor.executemany(self.queries.add_write, rows)

        return work

    def _get(self, address: Address, serde: SerializerProtocol) -> CheckpointTuple | None:
        snapshot = self._store.read(read_one, self.queries, address)
        return None if snapshot is None else snapshot.decode(serde, self._store.where)

    def _listing(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> ListingState:
        search = ListCriteria.of(config, filter, before, limit)
        return ListingState(self._store, self.queries, self.serde, search)

    def _deleting_thread(self, thread_id: str) -> Work[None]:
        return lambda cursor: self._delete_thread(cursor, str(thread_id))

    def _delete_thread(self, cursor: sqlite3.Cursor, thread_id: str) -> None:
        removing.delete_thread(cursor, self.queries, thread_id)
        self.recent.forget(thread_id)

    def _deleting_runs(self, run_ids: Sequence[str]) -> Work[None]:
        wanted = [str(run_id) for run_id in run_ids]

        def work(cursor: sqlite3.Cursor) -> None:
            for thread_id in removing.delete_for_runs(cursor, self.queries, wanted):
                self.recent.forget(thread_id)

        return work

    def _copying_thread(self, source_thread_id: str, target_thread_id: str) -> Work[None]:
        source, target = str(source_thread_id), str(target_thread_id)
        if source == target:
            return lambda cursor: None
        return lambda cursor: removing.copy_thread(cursor, self.queries, source, target)

    def _pruning(self, thread_ids: Sequence[str], strategy: str) -> Work[None]:
        check_strategy(strategy)
        wanted = list(dict.fromkeys(map(str, thread_ids)))

        def work(cursor: sqlite3.Cursor) -> None:
            for thread_id in wanted:
                if strategy == "keep_latest":
                    removing.prune(cursor, self.queries, thread_id)
                else:
                    self._delete_thread(cursor, thread_id)

        return work

    def _get_delta(
        self, address: Address, channels: Sequence[str], serde: SerializerProtocol
    ) -> "dict[str, DeltaChannelHistory]":
        return self._store.read(read_delta, self.queries, address, channels).decode(
            serde, channels, self._store.where
        )
