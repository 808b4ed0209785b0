"""Savers that keep too much in their servers, in one respect, and are right in the other.

The plain ones on PostgreSQL and MariaDB keep the whole state with each checkpoint, and leave
nothing behind. Those with blobs keep each value once, and leave those that pruning made useless.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from redis.client import Pipeline

from saverproof.mistakes.reference.store import Blob, CheckpointRow
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from tests.reference.blobs import BlobReference
from tests.servers import mariadb_saver, postgres_savers, redis_saver
from tests.servers.redis_saver import Fields, RedisReference


class WithBlobs(BlobReference):
    """Keeps each value once, in a table of its own."""

    table: ClassVar[str]
    insert: ClassVar[str]

    @classmethod
    def on(cls, dsn: str) -> Self:
        made: Self = super().on(dsn)  # type: ignore[misc]
        made.database.run(cls.table)
        return made

    def _insert_blobs(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        for channel, blob in blobs.items():
            place = (row.thread, row.ns, channel, versions[channel])
            self.database.run(self.insert, *place, *blob)


class PostgresBlobs(WithBlobs, postgres_savers.RightSaver):
    table = (
        "CREATE TABLE IF NOT EXISTS blobs (thread TEXT, ns TEXT, channel TEXT, version TEXT, "
        "type TEXT, value BYTEA, PRIMARY KEY (thread, ns, channel, version))"
    )
    insert = "INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


class MariaDbBlobs(WithBlobs, mariadb_saver.RightSaver):
    table = (
        "CREATE TABLE IF NOT EXISTS blobs (thread VARCHAR(99), ns VARCHAR(99), "
        "channel VARCHAR(99), version VARCHAR(99), type TEXT, value LONGBLOB, "
        "PRIMARY KEY (thread, ns, channel, version))"
    )
    insert = "INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE type = type"


class DeletedFieldsStay(RedisReference):
    """What is deleted goes under another key."""

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        for name in before.keys() - after.keys():
            self.client.hset("deleted", name, before[name])
        super().store_changes(pipeline, before, after)


class EachStepAgain(RedisReference):
    """The whole thread is kept again with each change of it."""

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        for name, text in after.items():
            if b"agent" in name and before.get(name) != text:
                self.client.rpush("steps", text)
        super().store_changes(pipeline, before, after)


def _on_redis(kind: type[RedisReference], attribute: str) -> Target:
    ref = TargetRef(attribute, module=__name__, file=None, attribute=attribute)
    return redis_saver.target_of(kind, ref=ref)


postgres_blobs = postgres_savers.target_of(PostgresBlobs, "postgres_blobs", __name__)
mariadb_blobs = mariadb_saver.target_of(MariaDbBlobs, "mariadb_blobs", __name__)
deleted_fields_stay = _on_redis(DeletedFieldsStay, "deleted_fields_stay")
each_step_again = _on_redis(EachStepAgain, "each_step_again")
