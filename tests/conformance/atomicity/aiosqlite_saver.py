"""A stranger's saver on aiosqlite, which nobody prepared for the kit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple

from saverproof.savers.targets.target import Target


def address(config: Any) -> tuple[str, str, str | None]:
    at = config["configurable"]
    return at["thread_id"], at.get("checkpoint_ns", ""), at.get("checkpoint_id")


class AioSaver(BaseCheckpointSaver[int]):
    """A stranger's saver: aiosqlite, its async API alone, one transaction for each operation."""

    SCHEMA = (
        "CREATE TABLE IF NOT EXISTS checkpoints (thread, ns, id, parent, metadata, kind, value, "
        "PRIMARY KEY (thread, ns, id))",
        "CREATE TABLE IF NOT EXISTS writes (thread, ns, id, task, position, channel, kind, value, "
        "PRIMARY KEY (thread, ns, id, task, position))",
    )

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__()
        self.connection = connection
        self.lock = asyncio.Lock()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self.lock:
            try:
                await self.connection.execute("BEGIN IMMEDIATE")
                yield
                await self.connection.execute("COMMIT")
            except BaseException:
                # Whatever was cancelled is still on its way to the connection's thread.
                await asyncio.shield(asyncio.ensure_future(self.connection.rollback()))
                raise

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        thread, ns, parent = address(config)
        typed = self.serde.dumps_typed(checkpoint)
        row = (thread, ns, checkpoint["id"], parent, json.dumps(metadata), *typed)
        async with self.transaction():
            await self.connection.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row
            )
        at = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}
        return {"configurable": at}

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        place = (*address(config), task_id)
        rows = [
            (*place, WRITES_IDX_MAP.get(channel, index), channel, *self.serde.dumps_typed(written))
            for index, (channel, written) in enumerate(writes)
        ]
        await self.store(rows)

    async def store(self, rows: list[Any]) -> None:
        async with self.transaction():
            await self.insert(rows)

    async def insert(self, rows: list[Any]) -> None:
        await self.connection.executemany(
            "INSERT OR IGNORE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    async def aget_tuple(self, config: Any) -> Any:
        async for item in self.alist(config, limit=1):
            return item
        return None

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        at = config["configurable"]
        asked = {"thread": "thread_id", "ns": "checkpoint_ns", "id": "checkpoint_id"}
        given = {column: at[key] for column, key in asked.items() if at.get(key) is not None}
        where = " AND ".join(f"{column} = ?" for column in given)
        limit = -1 if options.get("limit") is None else options["limit"]
        query = f"SELECT * FROM checkpoints WHERE {where} ORDER BY id DESC LIMIT {limit}"
        async with self.lock:
            rows = await self.connection.execute_fetchall(query, tuple(given.values()))
            listed = [await self.tuple_of(row) for row in rows]
        for item in listed:
            yield item

    async def tuple_of(self, row: Any) -> Any:
        thread, ns, id, parent, metadata, *typed = row
        query = (
            "SELECT task, channel, kind, value FROM writes "
            "WHERE thread = ? AND ns = ? AND id = ? ORDER BY task, position"
        )
        writes = await self.connection.execute_fetchall(query, (thread, ns, id))

        def config(id: Any) -> Any:
            at = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}
            return {"configurable": at}

        return CheckpointTuple(
            config(id),
            self.serde.loads_typed(tuple(typed)),
            json.loads(metadata),
            config(parent) if parent else None,
            [(task, channel, self.serde.loads_typed((k, v))) for task, channel, k, v in writes],
        )

    async def adelete_thread(self, thread_id: str) -> None:
        async with self.transaction():
            for table in ("checkpoints", "writes"):
                query = f"DELETE FROM {table} WHERE thread = ?"
                await self.connection.execute(query, (thread_id,))

    def get_next_version(self, current: int | None, channel: None) -> int:
        return (current or 0) + 1


class CommittedApart(AioSaver):
    """Deletes and inserts are committed one by one."""

    async def insert(self, rows: list[Any]) -> None:
        for row in rows:
            await super().insert([row])
            await self.connection.commit()
            await self.connection.execute("BEGIN IMMEDIATE")


def through_aiosqlite(saver: type[AioSaver]) -> Target:
    @asynccontextmanager
    async def opened(workspace: Any) -> AsyncIterator[Any]:
        path = workspace.path / "aio.db"
        async with aiosqlite.connect(path, isolation_level=None) as connection:
            for table in saver.SCHEMA:
                await connection.execute(table)
            yield saver(connection)

    return Target(name="aio", open=opened)
