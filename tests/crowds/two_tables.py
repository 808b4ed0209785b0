"""A saver of two SQLite tables, cut into hooks that variations of it override."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
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
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from saverproof.mistakes.registry import WorkspaceLike

Place = tuple[str, str]
Write = tuple[str, Any]
TABLES = """
CREATE TABLE IF NOT EXISTS checkpoints (thread BLOB, ns BLOB, id BLOB, parent BLOB, type TEXT,
    data BLOB, metadata_type TEXT, metadata BLOB, PRIMARY KEY (thread, ns, id));
CREATE TABLE IF NOT EXISTS writes (thread BLOB, ns BLOB, id BLOB, task BLOB, idx INTEGER,
    channel BLOB, type TEXT, data BLOB, path BLOB, PRIMARY KEY (thread, ns, id, task, idx));
"""


def stored(name: str) -> bytes:
    """A name as bytes: a column of text does not take each of them."""
    return name.encode("utf-8", "surrogatepass")


def loaded(name: bytes) -> str:
    """The name that is stored as these bytes."""
    return name.decode("utf-8", "surrogatepass")


class TwoTables(BaseCheckpointSaver[str]):
    """Keeps checkpoints and writes in a table each."""

    write_order = "path, task, idx"
    list_order = "id DESC"
    by_id = "thread = ? AND ns = ? AND id = ?"

    def __init__(self, path: Path) -> None:
        super().__init__()
        path.touch(0o600)
        self.lock = threading.RLock()
        self.connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.connection.executescript(TABLES)

    def close(self) -> None:
        self.connection.close()

    # -- where things are -----------------------------------------------------------------

    def thread_of(self, thread: str) -> str:
        return thread

    def ns_of(self, config: RunnableConfig) -> str:
        return str(config["configurable"].get("checkpoint_ns", ""))

    def listed_ns_of(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_ns")

    def parent_of(self, config: RunnableConfig) -> str | None:
        return self.id_of(config)

    def id_of(self, config: RunnableConfig | None) -> str | None:
        return (get_checkpoint_id(config) or None) if config else None

    def place_of(self, config: RunnableConfig) -> Place:
        return self.thread_of(str(config["configurable"]["thread_id"])), self.ns_of(config)

    def address(self, thread: str, ns: str, id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}}

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        parent = self.parent_of(config)
        row = (
            *map(stored, (*self.place_of(config), checkpoint["id"])),
            None if parent is None else stored(parent),
            *self.serde.dumps_typed(checkpoint),
            *self.serde.dumps_typed(get_checkpoint_metadata(config, metadata)),
        )
        with self.lock:
            self.connection.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row
            )
        given = config["configurable"]
        return self.address(
            str(given["thread_id"]), given.get("checkpoint_ns", ""), checkpoint["id"]
        )

    def index_of(self, channel: str, position: int) -> int:
        return WRITES_IDX_MAP.get(channel, position)

    def verb_for(self, channel: str) -> str:
        return "REPLACE" if channel in WRITES_IDX_MAP else "IGNORE"

    def rows_of(self, writes: Sequence[Write], earlier: int) -> Iterator[tuple[int, str, Any]]:
        for position, (channel, value) in enumerate(writes):
            yield self.index_of(channel, position), channel, value

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[Write], task_id: str, task_path: str = ""
    ) -> None:
        place = *self.place_of(config), config["configurable"]["checkpoint_id"]
        key = *map(stored, place), stored(task_id)
        with self.lock, self.transaction():
            [earlier] = self.connection.execute(
                "SELECT count(*) FROM writes WHERE thread = ? AND ns = ? AND id = ? AND task = ?",
                key,
            ).fetchone()
            for index, channel, value in self.rows_of(writes, earlier):
                self.connection.execute(
                    f"INSERT OR {self.verb_for(channel)} INTO writes"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *key,
                        index,
                        stored(channel),
                        *self.serde.dumps_typed(value),
                        stored(task_path),
                    ),
                )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def delete_thread(self, thread_id: str) -> None:
        thread = stored(self.thread_of(thread_id))
        with self.lock, self.transaction():
            self.forget(thread)

    def forget(self, thread: bytes) -> None:
        self.connection.execute("DELETE FROM checkpoints WHERE thread = ?", (thread,))
        self.connection.execute("DELETE FROM writes WHERE thread = ?", (thread,))

    # -- reading --------------------------------------------------------------------------

    def writes_of(self, key: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
        rows = self.connection.execute(
            "SELECT task, channel, type, data FROM writes WHERE thread = ? AND ns = ? AND id = ?"
            f" ORDER BY {self.write_order}",
            key,
        )
        return [
            (loaded(task), loaded(channel), self.serde.loads_typed((kind, data)))
            for task, channel, kind, data in rows
        ]

    def tuple_of(self, row: tuple[Any, ...]) -> CheckpointTuple:
        thread, ns, id = map(loaded, row[:3])
        parent = None if row[3] is None else self.address(thread, ns, loaded(row[3]))
        checkpoint, metadata = (self.serde.loads_typed(row[at : at + 2]) for at in (4, 6))
        writes = self.writes_of(row[:3])
        return CheckpointTuple(self.address(thread, ns, id), checkpoint, metadata, parent, writes)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place, id = self.place_of(config), self.id_of(config)
        with self.lock:
            if id is None:
                where, values = "thread = ? AND ns = ? ORDER BY id DESC LIMIT 1", (*place,)
            else:
                where, values = self.by_id, (*place, id)
            row = self.connection.execute(
                f"SELECT * FROM checkpoints WHERE {where}", [*map(stored, values)]
            ).fetchone()
            return None if row is None else self.tuple_of(row)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        asked = {
            "thread = ?": self.place_of(config)[0] if config else None,
            "ns = ?": self.listed_ns_of(config) if config else None,
            "id = ?": self.id_of(config),
            "id < ?": self.id_of(before),
        }
        where = {each: stored(str(name)) for each, name in asked.items() if name is not None}
        with self.lock:
            rows = self.connection.execute(
                f"SELECT * FROM checkpoints WHERE {' AND '.join(['1', *where])}"
                f" ORDER BY {self.list_order}",
                [*where.values()],
            ).fetchall()
            found = [
                each
                for each in map(self.tuple_of, rows)
                if all(each.metadata.get(key) == value for key, value in (filter or {}).items())
            ]
        yield from found[:limit]

    def get_next_version(self, current: Any, channel: None) -> str:
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    # -- the async API --------------------------------------------------------------------

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: RunnableConfig | None, **how: Any) -> AsyncIterator[Any]:
        for found in await asyncio.to_thread(lambda: [*self.list(config, **how)]):
            yield found

    async def aput(self, *given: Any, **named: Any) -> RunnableConfig:
        return await asyncio.to_thread(self.put, *given, **named)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[Write], task_id: str, task_path: str = ""
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)


@contextmanager
def opened(saver: type[TwoTables], workspace: WorkspaceLike) -> Iterator[TwoTables]:
    """Open a saver of this class on a workspace, as a target does."""
    made = saver(workspace.path / "two-tables.db")
    try:
        yield made
    finally:
        made.close()
