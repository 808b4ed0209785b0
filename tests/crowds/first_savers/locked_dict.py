"""A first saver: a dict behind a lock, in memory."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)

from tests.crowds.first_savers.registry import FirstSaver

Place = tuple[str, str]


@dataclass
class Memory:
    """What savers share: checkpoints by thread and namespace, and writes by checkpoint."""

    rows: dict[Place, dict[str, dict[str, Any]]] = field(default_factory=dict)
    writes: dict[tuple[str, str, str], dict[Any, Any]] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)


class LockedDictSaver(BaseCheckpointSaver[int]):
    """Keeps the objects themselves: nothing is serialized."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory

    def kept(self, value: Any) -> Any:
        """A value as it is kept, and as it is given back."""
        return value

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = self.place_of(config)
        row = {
            "id": checkpoint["id"],
            "place": place,
            "parent_id": config["configurable"].get("checkpoint_id") or None,
            "checkpoint": self.kept(checkpoint),
            "metadata": self.kept(self.merged(config, metadata)),
        }
        with self.memory.lock:
            rows = self.memory.rows.setdefault(place, {})
            rows[checkpoint["id"]] = row
        return self.address(*place, checkpoint["id"])

    def merged(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        metadata.update(get_checkpoint_metadata(config, metadata))
        return metadata

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        key = (*self.place_of(config), config["configurable"]["checkpoint_id"])
        batch = [(channel, self.kept(value)) for channel, value in writes]
        with self.memory.lock:
            stored = self.memory.writes.setdefault(key, {})
            for position, (channel, value) in enumerate(batch):
                index = WRITES_IDX_MAP.get(channel, position)
                if self.is_new(stored, task_id, index):
                    stored[task_id, index] = (task_path, task_id, index, channel, value)

    def is_new(self, stored: dict[Any, Any], task_id: str, index: int) -> bool:
        return (task_id, index) not in stored

    def delete_thread(self, thread_id: str) -> None:
        with self.memory.lock:
            for tables in (self.memory.rows, self.memory.writes):
                self.forget(tables, thread_id)

    def forget(self, table: dict[Any, Any], thread_id: str) -> None:
        """Delete what a table has of a thread."""
        keys = [key for key in table if key[0] == thread_id]
        for key in keys[: self.most_at_once]:
            del table[key]

    most_at_once: int | None = 1

    # -- reading --------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        asked = config["configurable"].get("checkpoint_id")
        with self.memory.lock:
            rows = self.rows_of(config)
            wanted = asked or max(rows, default=None)
            return self.tuple_of(rows[wanted]) if wanted in rows else None

    def rows_of(self, config: RunnableConfig) -> dict[str, Any]:
        return self.memory.rows[self.place_of(config)]

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        bound = before["configurable"].get("checkpoint_id") if before else None
        with self.memory.lock:
            rows = [row for rows in self.memory.rows.values() for row in rows.values()]
            rows = [row for row in rows if config is None or self.is_asked_for(row, config)]
            rows = [row for row in rows if not bound or row["id"] < bound]
            rows.sort(key=lambda row: row["id"], reverse=self.newest_first)
            found = [self.tuple_of(row) for row in rows if self.matches(row, filter or {})]
        yield from found[: len(found) if limit is None else limit]

    newest_first = False

    def is_asked_for(self, row: dict[str, Any], config: RunnableConfig) -> bool:
        thread_id, ns = row["place"]
        asked = config["configurable"]
        return (
            thread_id == str(asked["thread_id"])
            and asked.get("checkpoint_ns") in (None, ns)
            and (asked.get("checkpoint_id") or row["id"]) == row["id"]
        )

    def matches(self, row: dict[str, Any], filter: dict[str, Any]) -> bool:
        return any(row["metadata"].get(key) == filter[key] for key in filter) or not filter

    def tuple_of(self, row: dict[str, Any]) -> CheckpointTuple:
        place, parent_id = row["place"], row["parent_id"]
        writes = self.memory.writes.get((*place, row["id"]), {}).values()
        return CheckpointTuple(
            self.address(*place, row["id"]),
            self.kept(row["checkpoint"]),
            self.kept(row["metadata"]),
            self.address(*place, parent_id) if parent_id else None,
            [
                (task_id, channel, self.kept(value))
                for _, task_id, _, channel, value in sorted(writes, key=lambda write: write[:3])
            ],
        )

    def place_of(self, config: RunnableConfig) -> Place:
        asked = config["configurable"]
        return str(asked["thread_id"]), asked.get("checkpoint_ns") or ""

    def address(self, thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


MEMORIES: dict[Path, Memory] = {}
"""What is kept of each folder: nothing outlives the process."""


@contextmanager
def opened(saver: type[LockedDictSaver], folder: Path) -> Iterator[LockedDictSaver]:
    """Open the saver on what is kept of a folder."""
    yield saver(MEMORIES.setdefault(folder, Memory()))


@contextmanager
def forgotten() -> Iterator[None]:
    """Forget at the end what was kept."""
    try:
        yield
    finally:
        MEMORIES.clear()


LOCKED_DICT = FirstSaver("locked-dict", LockedDictSaver, opened, forgotten, durable=False)


@LOCKED_DICT.mend(
    "kept-by-reference",
    "identity/snapshots",
    "the caller's own objects are kept, and given to the next one",
)
class KeepsCopies:
    def kept(self, value: Any) -> Any:
        return copy.deepcopy(value)


@LOCKED_DICT.mend(
    "metadata-updated", "identity/inputs-untouched", "the caller's metadata is what is updated"
)
class LeavesMetadata:
    def merged(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        return get_checkpoint_metadata(config, metadata)


@LOCKED_DICT.mend(
    "unknown-is-a-key-error",
    "identity/unknown-is-none",
    "get_tuple of an unknown thread raises KeyError",
)
class UnknownIsNone:
    def rows_of(self, config: RunnableConfig) -> dict[str, Any]:
        return self.memory.rows.get(self.place_of(config), {})


@LOCKED_DICT.mend(
    "special-writes-kept",
    "upsert/special-write-last-wins",
    "a write that is there stays, an interrupt too",
)
class ReplacesSpecial:
    def is_new(self, stored: dict[Any, Any], task_id: str, index: int) -> bool:
        return index < 0 or super().is_new(stored, task_id, index)


@LOCKED_DICT.mend(
    "deletes-one", "deletion/thread-all", "the first namespace of a thread is deleted, and no other"
)
class DeletesAll:
    most_at_once = None


@LOCKED_DICT.mend("oldest-first", "ordering/list-newest-first", "a list begins with the oldest")
class NewestFirst:
    newest_first = True


@LOCKED_DICT.mend(
    "any-key-matches", "filter/equality", "a checkpoint is listed if any key of the filter fits"
)
class EveryKeyMatches:
    def matches(self, row: dict[str, Any], filter: dict[str, Any]) -> bool:
        return all(row["metadata"].get(key) == filter[key] for key in filter)
