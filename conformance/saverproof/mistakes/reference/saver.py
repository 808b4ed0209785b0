"""A saver on dictionaries that keeps every functional contract, cut into small hooks.

A wrong saver overrides one hook. Values are serialized before anything is stored, and deserialized
on each read, so nothing stored is ever shared with a caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from saverproof.mistakes.reference.asynchronous import AsyncTwins
from saverproof.mistakes.reference.maintenance import Maintenance
from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore


class ReferenceSaver(AsyncTwins, Maintenance):
    """The plain saver. All savers of one workspace share one `store`."""

    def __init__(self, store: ReferenceStore | None = None, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.store = store if store is not None else ReferenceStore()

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return a saver on the store for this path, as a target opens it."""
        return cls(ReferenceStore.at(path))

    def setup(self) -> None:
        """Prepare the store. It may be called any number of times."""

    def close(self) -> None:
        """Close the saver. It may be called any number of times."""

    # -- base operations ------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread, ns = self._thread_of(config), self._put_ns(config)
        merged = self._merged_metadata(config, metadata)
        row = CheckpointRow(
            thread,
            ns,
            checkpoint["id"],
            self._parent_of(config),
            self._dump_fields(self._fields(checkpoint)),
            self._dump_metadata(merged),
            dict(checkpoint["channel_versions"]),
        )
        with self.store.lock:
            values = self._values_to_store(self._shelf(thread, ns), row, checkpoint, new_versions)
            shelf = self._shelf_for_writing(thread, ns)
            self._store_values(shelf, values)
            self._store_checkpoint(shelf, row)
        return self._put_answer(config, row)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread, ns = self._thread_of(config), self._writes_ns(config)
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.store.lock:
            self._store_batch(self._shelf_for_writing(thread, ns), self._writes_id(config), rows)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with self.store.lock:
            row = self._find(config)
            material = None if row is None else self._material(row)
        return None if material is None else self._got(config, self._tuple(*material))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self.store.lock:
            rows = self._page(config, filter, before, limit)
            materials = [self._material(row) for row in rows]
        for material in materials:
            yield self._listed(config, self._tuple(*material))

    def get_next_version(self, current: Any, channel: None) -> Any:
        number = 0 if current is None else int(str(current).split(".")[0])
        with self.store.lock:
            self.store.minted += 1
            return f"{number + 1:032}.{self.store.minted:016}"
