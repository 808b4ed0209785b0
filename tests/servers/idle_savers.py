"""Savers whose idle sessions a server ends again and again: what they do when they notice."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg
import pymysql
from redis.client import Pipeline

from saverproof.savers.targets.reference import TargetRef
from tests.servers import mariadb_saver, postgres_savers
from tests.servers.redis_saver import Fields, RedisReference
from tests.servers.redis_saver import target_of as redis_target

_MOST = 3
"""The size of the pools that run out."""


class PoolExhaustedError(Exception):
    """A pool has handed out all that it may have."""


class CountsWhatIsGone(postgres_savers.Database):
    """A connection that is found dead before it is used still counts among those of the pool; one
    that breaks in use does not.
    """

    opened = 1

    def reconnect_if_lost(self) -> None:
        if not self.connection.broken:
            try:
                self.connection.execute("SELECT 1")
            except psycopg.OperationalError:
                self.opened += 1
        if self.opened > _MOST:
            raise PoolExhaustedError
        if self.connection.broken:
            self.connection = psycopg.connect(self.dsn, autocommit=True)


class ChecksBeforeUse(postgres_savers.Database):
    """The same, and what is found dead is replaced each time."""

    def reconnect_if_lost(self) -> None:
        if not self.connection.broken:
            with suppress(psycopg.OperationalError):
                self.connection.execute("SELECT 1")
        if self.connection.broken:
            self.connection = psycopg.connect(self.dsn, autocommit=True)


class RunsOut(postgres_savers.RightSaver):
    """Its pool runs out once its server has ended some idle sessions."""

    @classmethod
    def on(cls, dsn: str) -> Any:
        return cls(CountsWhatIsGone(dsn))


class Replaces(postgres_savers.RightSaver):
    """Replaces what its server has ended, as often as it takes."""

    @classmethod
    def on(cls, dsn: str) -> Any:
        return cls(ChecksBeforeUse(dsn))


class CountsInMariaDB(mariadb_saver.Database):
    """As ``CountsWhatIsGone``."""

    opened = 1

    def reconnect_if_lost(self) -> None:
        if self.connection.open:
            try:
                self.connection.ping(reconnect=False)
            except pymysql.Error:
                self.opened += 1
        if self.opened > _MOST:
            raise PoolExhaustedError
        if not self.connection.open:
            self.connection = self.connect()


class RunsOutInMariaDB(mariadb_saver.RightSaver):
    """Its pool runs out once its server has ended some idle sessions."""

    database_kind = CountsInMariaDB


class LosesTheSecond(RedisReference):
    """Makes up for the first session that has ended while it was idle; when that comes again, the
    change that found it is left out.
    """

    session, ended = 0, 0

    def change(self, work: Any) -> Any:
        before, self.session = self.session, self.client.client_id()
        self.ended += self.session != before
        return super().change(work)

    def store_changes(self, pipeline: Pipeline, before: Fields, after: Fields) -> None:
        # Its first session counts as well.
        if self.ended < 3:
            super().store_changes(pipeline, before, after)
        else:
            self.ended = 2


replaces = postgres_savers.target_of(Replaces, "replaces", __name__)
runs_out = postgres_savers.target_of(RunsOut, "runs_out", __name__)
runs_out_in_mariadb = mariadb_saver.target_of(RunsOutInMariaDB, "runs_out_in_mariadb", __name__)
loses_the_second = redis_target(
    LosesTheSecond,
    ref=TargetRef("loses", module=__name__, file=None, attribute="loses_the_second"),
)
