"""Wrong savers on a real Redis: what goes wrong between a client and its server."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, cycle
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.retry import Retry

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.servers.redis_saver import SHELVES, Fields, RedisReference

LATEST = "latest"


class LostAnswerIsSuccess(RedisReference):
    """Takes it that what was sent is stored."""

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        pipeline.unwatch()
        with suppress(redis.ConnectionError):
            super().store_changes(pipeline, before, after)


class LeakingPool(RedisReference):
    """Has a few connections, and gives one back if all went well."""

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        pool = redis.BlockingConnectionPool.from_url(
            dsn, max_connections=4, timeout=0.05, retry=Retry(NoBackoff(), 0)
        )
        return redis.Redis.from_pool(pool)

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        pipeline.unwatch()
        pool = self.client.connection_pool
        connection = pool.get_connection()
        for name in before.keys() | after:
            if before.get(name) != after.get(name):
                words = ("HSET", SHELVES, name, after[name]) if name in after else ()
                connection.send_command(*(words or ("HDEL", SHELVES, name)))
                connection.read_response()
        pool.release(connection)


class WaitsForEver(RedisReference):
    """Has no limit to how long an answer may take."""

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        return redis.Redis.from_url(dsn, socket_timeout=None, retry=Retry(NoBackoff(), 0))


class NeverConnectsAgain(RedisReference):
    """Holds one connection for ever, also when it is gone."""

    lost = False

    def change(self, work: Callable[[], Any]) -> Any:
        if self.lost:
            raise redis.ConnectionError("the connection was lost")
        try:
            return super().change(work)
        except redis.ConnectionError:
            self.lost = True
            raise


class DeletesBeforeItSets(RedisReference):
    """Makes room first, and each command takes effect by itself."""

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        pipeline.unwatch()
        changed = [name for name in before.keys() | after if before.get(name) != after.get(name)]
        for name in changed:
            self.client.hdel(SHELVES, name)  # type: ignore[arg-type]
            if name in after:
                self.client.hset(SHELVES, name, after[name])  # type: ignore[arg-type]


class StalePointer(RedisReference):
    """Keeps which checkpoint is the latest beside the checkpoints, and writes it last."""

    def change(self, work: Callable[[], Any]) -> Any:
        answer = super().change(work)
        latest = {
            repr(address): max(shelf.checkpoints)
            for address, shelf in self.store.shelves.items()
            if shelf.checkpoints
        }
        known: Any = self.client.hgetall(LATEST)
        for name, pointer in latest.items():
            if known.get(name.encode()) != pointer.encode():
                self.client.hset(LATEST, name, pointer)
        return answer

    def get_tuple(self, config: Any) -> Any:
        asked = config["configurable"]
        if not asked.get("checkpoint_id"):
            address = (asked["thread_id"], asked.get("checkpoint_ns", ""))
            known: Any = self.client.hget(LATEST, repr(address))
            if known is not None:
                asked = {**asked, "checkpoint_id": known.decode()}
        return super().get_tuple({**config, "configurable": asked})


class ScansWithGlob(RedisReference):
    """Deletes what matches the thread's name, in which a wildcard may stand."""

    def delete_thread(self, thread_id: str) -> None:
        pattern = f"\\[{json.dumps(thread_id)},*"
        names = [name for name, _ in self.client.hscan_iter(SHELVES, match=pattern)]
        if names:
            self.client.hdel(SHELVES, *names)


class _Unchecked(redis.ConnectionPool):
    """Hands out connections in turn, whatever has become of them."""

    size = 3

    def get_connection(self, *_: Any, **__: Any) -> Any:
        if not hasattr(self, "in_turn"):
            self.in_turn = cycle([self.make_connection() for _ in range(self.size)])
        connection = next(self.in_turn)
        connection.connect()
        return connection

    def release(self, connection: Any) -> None:
        pass


class DeadConnectionsInPool(RedisReference):
    """Finds out that a connection is dead when it is used, one after the other."""

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        return redis.Redis.from_pool(_Unchecked.from_url(dsn, retry=Retry(NoBackoff(), 0)))


class _TakesWhatComes(redis.Connection):
    """Is kept when an answer has not come in time."""

    def disconnect(self, *given: Any) -> None:
        if not isinstance(sys.exception(), redis.TimeoutError):
            super().disconnect(*given)


class _One(_Unchecked):
    """Has one connection alone."""

    size = 1


class LateAnswers(RedisReference):
    """Takes an answer that comes late for the one to its next command."""

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        pool = _One.from_url(
            dsn, connection_class=_TakesWhatComes, socket_timeout=1.0, retry=Retry(NoBackoff(), 0)
        )
        return redis.Redis.from_pool(pool)


class OneAfterTheOther(RedisReference):
    """Sends all commands at once, and takes that for a transaction."""

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        pipeline.unwatch()
        with self.client.pipeline(transaction=False) as commands:
            for name in before.keys() | after:
                if before.get(name) != after.get(name):
                    commands.hdel(SHELVES, name)
                    if name in after:
                        commands.hset(SHELVES, name, after[name])
            commands.execute()


class AppendsAgain(RedisReference):
    """Appends to an index, and once more where no answer came."""

    INDEX = "index"

    def know(self, fields: Any) -> None:
        super().know(fields)
        self.known = self.ids()

    def ids(self) -> set[str]:
        return {one for shelf in self.store.shelves.values() for one in shelf.checkpoints}

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        pipeline.unwatch()
        new = self.ids() - self.known
        for at in range(2):
            with suppress(*[redis.ConnectionError][at:]):
                pipeline.multi()
                for name in after:
                    pipeline.hset(SHELVES, name, after[name])  # type: ignore[arg-type]
                if new:
                    pipeline.rpush(self.INDEX, *new)
                pipeline.execute()
                return

    def list(self, *given: Any, **options: Any) -> Any:
        index: Any = self.client.lrange(self.INDEX, 0, -1)
        for one in super().list(*given, **options):
            yield from [one] * index.count(one.checkpoint["id"].encode())


class ByArrival(RedisReference):
    """Lists what was stored last first, whatever its id."""

    def list(self, *given: Any, **options: Any) -> Any:
        limit = options.pop("limit", None)
        arrived = {one: at for at, one in enumerate(self.arrivals())}
        found = [*super().list(*given, **options)]
        found.sort(key=lambda one: arrived[one.checkpoint["id"]], reverse=True)
        return iter(found[:limit])

    def arrivals(self) -> Any:
        known: Any = self.client.lrange(LATEST, 0, -1)
        return [one.decode() for one in known]

    def put(self, config: Any, checkpoint: Any, *given: Any) -> Any:
        answer = super().put(config, checkpoint, *given)
        self.client.lrem(LATEST, 0, checkpoint["id"])
        self.client.rpush(LATEST, checkpoint["id"])
        return answer


class ScriptLoadedOnce(RedisReference):
    """Stores by a script that was loaded when the store was empty; a restart forgets it."""

    SCRIPT = "for at = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end"

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        if not before:
            self.client.script_load(self.SCRIPT)
        pipeline.multi()
        changed = {name: text for name, text in after.items() if before.get(name) != text}
        sha = hashlib.sha1(self.SCRIPT.encode()).hexdigest()
        pipeline.evalsha(sha, 1, SHELVES, *chain(*changed.items()))  # type: ignore[arg-type]
        if gone := before.keys() - after.keys():
            pipeline.hdel(SHELVES, *gone)  # type: ignore[arg-type]
        pipeline.execute()


class TimedOutIsNotFound(RedisReference):
    """Takes a server that does not answer in time for one that has nothing."""

    def get_tuple(self, config: Any) -> Any:
        try:
            return super().get_tuple(config)
        except redis.TimeoutError:
            return None


class WaitsForEverInReads(RedisReference):
    """Has a limit for writes alone."""

    def get_tuple(self, config: Any) -> Any:
        pool = self.client.connection_pool
        given = pool.connection_kwargs | {"socket_timeout": None}
        patient = redis.ConnectionPool(pool.connection_class, **given)
        with self.store.lock, redis.Redis.from_pool(patient) as reader:
            self.know(reader.hgetall(SHELVES))
            return ReferenceSaver.get_tuple(self, config)


class ReadsLeakTheirConnection(RedisReference):
    """Has a few connections, and gives one back if a read went well."""

    @classmethod
    def connect(cls, dsn: str) -> redis.Redis:
        pool = redis.BlockingConnectionPool.from_url(
            dsn, max_connections=4, timeout=0.05, retry=Retry(NoBackoff(), 0)
        )
        return redis.Redis.from_pool(pool)

    def know(self, fields: Any) -> None:
        super().know(fields)
        pool = self.client.connection_pool
        connection = pool.get_connection()
        connection.send_command("PING")
        connection.read_response()
        pool.release(connection)
