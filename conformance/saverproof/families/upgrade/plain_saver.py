"""A saver that keeps what it is given in a file, and adds nothing.

If this saver, too, shows something differently between two releases of LangGraph, LangGraph itself
has changed it. The process of a release runs this text, so it imports nothing of the kit.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple

_TABLES = """
create table if not exists checkpoints (
    thread text, ns text, id text, parent text, kind text, data blob, metadata_kind text,
    metadata blob, primary key (thread, ns, id)
);
create table if not exists writes (
    thread text, ns text, id text, task text, number integer, channel text, kind text, data blob,
    primary key (thread, ns, id, task, number)
);
"""
Config = Any


class PlainSaver(BaseCheckpointSaver[int]):
    """Keeps each checkpoint and each write as the serializer makes them."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._database.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()

    def put(self, config: Config, checkpoint: Any, metadata: Any, new_versions: Any) -> Config:
        """Keep a checkpoint."""
        thread, ns, parent = _place(config)
        kept = (*self.serde.dumps_typed(checkpoint), *self.serde.dumps_typed(metadata))
        statement = "insert or replace into checkpoints values (?, ?, ?, ?, ?, ?, ?, ?)"
        self._rows(statement, thread, ns, checkpoint["id"], parent, *kept)
        return _config(thread, ns, checkpoint["id"])

    def put_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep a task's writes: the first of each number, but the last of each special channel."""
        place = _place(config)
        for number, (channel, value) in enumerate(writes):
            how = "replace" if channel in WRITES_IDX_MAP else "ignore"
            row = (task_id, WRITES_IDX_MAP.get(channel, number), channel)
            statement = f"insert or {how} into writes values (?, ?, ?, ?, ?, ?, ?, ?)"
            self._rows(statement, *place, *row, *self.serde.dumps_typed(value))

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """Return one checkpoint, or the latest one."""
        thread, ns, wanted = _place(config)
        found = self._rows(
            "select * from checkpoints where thread = ? and ns = ? and coalesce(id = ?, true)"
            " order by id desc limit 1",
            *(thread, ns, wanted),
        )
        return self._tuple(found[0]) if found else None

    def list(
        self,
        config: Config,
        *,
        filter: Any = None,
        before: Config = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        given = (config or {}).get("configurable", {})
        asked = [given.get(key) for key in ("thread_id", "checkpoint_ns", "checkpoint_id")]
        rows = self._rows(
            "select * from checkpoints where coalesce(thread = ?, true) and"
            " coalesce(ns = ?, true) and coalesce(id = ?, true) and coalesce(id < ?, true)"
            " order by id desc",
            *(*asked, _place(before)[2] if before else None),
        )
        wanted = (filter or {}).items()
        found = [one for one in map(self._tuple, rows) if wanted <= dict(one.metadata).items()]
        yield from found[:limit]

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread."""
        for table in ("checkpoints", "writes"):
            self._rows(f"delete from {table} where thread = ?", thread_id)

    def _tuple(self, row: Any) -> CheckpointTuple:
        thread, ns, own, parent, *kept = row
        writes = self._rows(
            "select task, channel, kind, data from writes where thread = ? and ns = ? and id = ?"
            " order by task, number",
            *(thread, ns, own),
        )
        return CheckpointTuple(
            _config(thread, ns, own),
            self.serde.loads_typed((kept[0], kept[1])),
            self.serde.loads_typed((kept[2], kept[3])),
            _config(thread, ns, parent) if parent else None,
            [
                (task, channel, self.serde.loads_typed((kind, data)))
                for task, channel, kind, data in writes
            ],
        )

    async def aput(self, *arguments: Any) -> Config:
        """Keep a checkpoint."""
        return self.put(*arguments)

    async def aput_writes(self, *arguments: Any, **more: Any) -> None:
        """Keep a task's writes."""
        self.put_writes(*arguments, **more)

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        """Return one checkpoint, or the latest one."""
        return self.get_tuple(config)

    async def alist(self, config: Config, **more: Any) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        for found in self.list(config, **more):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget a thread."""
        self.delete_thread(thread_id)


def _place(config: Config) -> tuple[str, str, str | None]:
    named = config["configurable"]
    return named["thread_id"], named.get("checkpoint_ns") or "", named.get("checkpoint_id")


def _config(thread: str, ns: str, own: str) -> Config:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": own}}
