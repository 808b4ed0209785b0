"""A saver on a real Redis that keeps every contract: what a call changes is one transaction.

All of a store is one hash, with a field for each thread and namespace. A change watches the hash,
reads it, and sends what is new in MULTI and EXEC; who was overtaken begins again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.retry import Retry

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults.servers import Redis
from tests.reference.state_text import state_from, state_of

REDIS = Redis()
SHELVES = "shelves"
"""The key of the hash."""
_ANSWERS_WITHIN_S = 4.0
"""Less than a call may take before it is said to hang."""

Fields = dict[bytes, bytes]


def _changing(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: RedisReference, *args: Any, **options: Any) -> Any:
        return self.change(lambda: getattr(ReferenceSaver, name)(self, *args, **options))

    return method


def _reading(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: RedisReference, *args: Any, **options: Any) -> Any:
        with self.store.lock:
            self.know(self.client.hgetall(SHELVES))
            answer = getattr(ReferenceSaver, name)(self, *args, **options)
            return iter([*answer]) if name == "list" else answer

    return method


class RedisReference(ReferenceSaver):
    """`client` is shared by all threads."""

    client: redis.Redis

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        """A client that tells of each lost connection, and makes a new one for the next call."""
        return redis.Redis.from_url(
            dsn, socket_timeout=_ANSWERS_WITHIN_S, retry=Retry(NoBackoff(), 0)
        )

    def get_next_version(self, current: Any, channel: None) -> Any:
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.getrandbits(53):016}"

    put = _changing("put")
    put_writes = _changing("put_writes")
    delete_thread = _changing("delete_thread")
    delete_for_runs = _changing("delete_for_runs")
    copy_thread = _changing("copy_thread")
    prune = _changing("prune")
    get_tuple = _reading("get_tuple")
    list = _reading("list")
    get_delta_channel_history = _reading("get_delta_channel_history")

    def change(self, work: Callable[[], Any]) -> Any:
        """Do the work on what is stored, and store what comes of it, all of it or nothing."""
        with self.store.lock, self.client.pipeline() as pipeline:
            while True:
                pipeline.watch(SHELVES)
                before: Any = pipeline.hgetall(SHELVES)
                self.know(before)
                answer = work()
                try:
                    self.store_changes(pipeline, before, self.fields())
                except redis.WatchError:
                    continue
                return answer

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        """Send what differs, as one transaction."""
        pipeline.multi()
        new = {name: text for name, text in after.items() if before.get(name) != text}
        if new:
            pipeline.hset(SHELVES, mapping=new)  # type: ignore[arg-type]
        if gone := before.keys() - after.keys():
            pipeline.hdel(SHELVES, *gone)  # type: ignore[arg-type]
        pipeline.execute()

    def know(self, fields: Any) -> None:
        """Take what is stored for all that there is."""
        self.store.shelves = {}
        for text in fields.values():
            self.store.shelves |= state_from(text.decode()).shelves

    def fields(self) -> Fields:
        """All that there is, as it is stored."""
        found: Fields = {}
        for address, shelf in self.store.shelves.items():
            alone = ReferenceStore()
            alone.shelves = {address: shelf}
            found[field_of(*address)] = state_of(alone).encode()
        return found


def field_of(thread: str, namespace: str) -> bytes:
    """The field of a thread and namespace."""
    return json.dumps([thread, namespace]).encode()


@contextmanager
def open_saver(kind: type[RedisReference], dsn: str) -> Iterator[RedisReference]:
    """A saver on the database at this DSN."""
    saver = kind(ReferenceStore())
    saver.client = kind.connect(dsn)
    try:
        yield saver
    finally:
        saver.client.close()


def target_of(kind: type[RedisReference], server: Redis = REDIS, **more: Any) -> Target:
    """A target that opens such a saver."""

    def opened(workspace: Workspace) -> AbstractContextManager[Any]:
        return open_saver(kind, workspace.dsn)

    return Target(name="tried", open=opened, server=server, **more)


right = target_of(
    RedisReference, ref=TargetRef("redis", module=__name__, file=None, attribute="right")
)
