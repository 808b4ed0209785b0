"""Behind PgBouncer in transaction mode who prepares nothing is right; others are told so."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from saverproof import PgBouncer, Workspace
from saverproof.errors import TargetError
from saverproof.families.registry import judged
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.probe_calls import Prober
from saverproof.savers.targets.probe_pooled import require_nothing_prepared
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import (
    Keeper,
    Need,
    PgBouncerServer,
    PooledPostgres,
    PostgresServer,
    ServerUnavailable,
    place,
    serving,
)
from tests.conformance.a_little import accusations_in, judge_a_little
from tests.conformance.judging_support import facts_of, plan_of
from tests.servers.postgres_savers import Database, RightSaver, target_of

_WHY_NOT = PgBouncerServer.missing() or PostgresServer.missing()
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))


class Unprepared(Database):
    """Executes every statement as it is, whatever ran before."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.connection.prepare_threshold = None

    def reconnect_if_lost(self) -> None:
        super().reconnect_if_lost()
        self.connection.prepare_threshold = None


class PreparesNothing(RightSaver):
    """The plain saver on PostgreSQL, as it has to be behind a pooler."""

    @classmethod
    def on(cls, dsn: str) -> PreparesNothing:
        return cls(Unprepared(dsn))


right = dataclasses.replace(
    target_of(PreparesNothing, "right", module=__name__), server=PgBouncer()
)
prepares_after_five = dataclasses.replace(
    target_of(RightSaver, "prepares_after_five", module=__name__), server=PgBouncer()
)
"""With psycopg's own prepare_threshold."""


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with serving(PgBouncer()):
        yield


def sessions_of(connection: Any, times: int) -> list[int]:
    """The sessions that transactions of a client get, one after the other."""
    return [connection.execute("SELECT pg_backend_pid()").fetchone()[0] for _ in range(times)]


def connected(dsn: str, threshold: int | None = None) -> Any:
    return closing(psycopg.connect(dsn, autocommit=True, prepare_threshold=threshold))


@pytest.mark.usefixtures("server")
def test_each_transaction_gets_another_session() -> None:
    with place(PgBouncer()) as here:
        with connected(here.dsn) as client:
            one, two, *others = sessions_of(client, 6)
            assert one != two
            assert others == [one, two, one, two]
            here.end_sessions()
            with pytest.raises(psycopg.Error):
                client.execute("SELECT 1")
        with connected(here.dsn) as client:
            three, four = sessions_of(client, 2)
            assert len({one, two, three, four}) == 4
            client.execute("CREATE TABLE kept ()")
        here.restart()
        with connected(here.dsn) as client:
            assert client.execute("SELECT count(*) FROM kept").fetchone() == (0,)


@pytest.mark.usefixtures("server")
def test_who_prepares_nothing_is_accused_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_a_little(0, monkeypatch)
    repeat(right, tmp_path)
    plan = plan_of(right, "pending-writes", "sync", tmp_path, facts=facts_of(right, tmp_path))
    outcome = judged(plan, right)
    assert outcome.checked
    assert accusations_in(outcome) == []


def repeat(target: Target, folder: Path) -> None:
    """Open a saver and repeat its calls, as the probe does."""
    with (
        EventLoop() as loop,
        fresh_workspace(folder, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        require_nothing_prepared(Prober(saver, loop, lambda _: None), ["sync"], target.name)


@contextmanager
def official(workspace: Workspace, threshold: int | None) -> Iterator[PostgresSaver]:
    """LangGraph's own saver, which was set up by a client that prepares nothing."""
    with connected(workspace.dsn) as connection:
        connection.row_factory = dict_row
        PostgresSaver(connection).setup()
    with connected(workspace.dsn, threshold) as connection:
        connection.row_factory = dict_row
        yield PostgresSaver(connection)


def official_with(threshold: int | None) -> Target:
    return dataclasses.replace(
        right, name="official", open=lambda workspace: official(workspace, threshold)
    )


# As PostgresSaver.from_conn_string has it, and psycopg's own default.
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("threshold", [0, 5])
def test_the_official_saver_is_told_if_it_prepares(threshold: int, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"call \d of put raised") as told:
        repeat(official_with(threshold), tmp_path)
    assert 'prepared statement "_pg3_' in str(told.value)
    assert str(told.value).endswith("(psycopg: prepare_threshold=None)")
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("server")
def test_the_official_saver_is_not_told_so_if_it_prepares_nothing(tmp_path: Path) -> None:
    repeat(official_with(None), tmp_path)


@pytest.mark.usefixtures("server")
def test_statements_that_are_prepared_later_are_told_as_well(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="prepare_threshold=None"):
        repeat(prepares_after_five, tmp_path)


def test_a_pooler_that_is_given_is_used_and_a_server_without_one_is_refused() -> None:
    with PgBouncer().private(None) as running:
        assert isinstance(running, PooledPostgres)
        with (
            Keeper(Need.of(PgBouncer()), running.url) as keeper,
            PgBouncer().places(running.url) as places,
        ):
            assert not keeper.kept.killable
            with connected(places.make("sp_given")) as client:
                client.execute("CREATE TABLE t ()")
            places.drop("sp_given")
        with (
            pytest.raises(ServerUnavailable, match="found PostgreSQL itself, expected PgBouncer"),
            Keeper(Need.of(PgBouncer()), running.pooler.behind.url),
        ):
            pass


@pytest.mark.parametrize("kind", [PgBouncerServer, PostgresServer])
def test_a_missing_program_is_named(
    kind: type[PgBouncerServer] | type[PostgresServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "programs", ("not-installed",))
    with pytest.raises(ServerUnavailable, match=r"^no not-installed in the PATH$"):
        PgBouncer().private(None).__enter__()
