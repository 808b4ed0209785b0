"""Behind PgBouncer in transaction mode who prepares nothing is right; others are told so."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from saverproof import PgBouncer, PgBouncerSchemas, PostgresSchemas, ServerKind, Workspace
from saverproof.errors import TargetError
from saverproof.families.answer import Status
from saverproof.families.functional.judging import SLOW_TO_OPEN_MS
from saverproof.families.functional.replay import replay
from saverproof.families.items import ItemPlan
from saverproof.families.registry import judged
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import Put
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.probe_calls import Prober
from saverproof.savers.targets.probe_pooled import TIMES, require_nothing_prepared
from saverproof.savers.targets.probe_separation import what_is_shared
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import (
    Keeper,
    Need,
    PgBouncerServer,
    PooledPostgres,
    PostgresServer,
    ServerError,
    ServerUnavailable,
    place,
    serving,
)
from saverproof_savers.targets.servers import langgraph_postgres_search_path
from tests.conformance.a_little import accusations_in, judge_a_little
from tests.conformance.judging_support import facts_of, plan_of
from tests.servers.postgres_savers import Database, RightSaver, target_of

_WHY_NOT = PgBouncerServer.missing() or PostgresServer.missing()
WORKSPACES = "isolation/workspaces"
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


def repeat(target: Target, folder: Path) -> Counter[str]:
    """Open a saver and repeat its calls, as the probe does; return how often each was made."""
    made = Counter[str]()
    with (
        EventLoop() as loop,
        fresh_workspace(folder, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        prober = Prober(saver, loop, lambda stage: made.update([stage]))
        require_nothing_prepared(prober, ["sync"], target.name)
    return made


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
    made = repeat(official_with(None), tmp_path)
    # None has raised, or it would not have been repeated so often.
    assert set(made.values()) == {TIMES}
    assert {"calling put", "calling get_tuple", "calling delete_thread"} < made.keys()


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


class InItsSchema(Unprepared):
    """Sets its search_path in each transaction, as its session may be anybody's."""

    def __init__(self, dsn: str) -> None:
        self.schema = psycopg.conninfo.conninfo_to_dict(dsn)["application_name"]
        super().__init__(dsn)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with super().writing():
            self.run(f"SET LOCAL search_path TO {self.schema}")
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        with super().reading():
            self.run(f"SET LOCAL search_path TO {self.schema}")
            yield


class KeepsToItsSchema(PreparesNothing):
    """The plain saver for one of many tenants behind a pooler."""

    @classmethod
    def on(cls, dsn: str) -> KeepsToItsSchema:
        return cls(InItsSchema(dsn))


one_of_many = dataclasses.replace(
    target_of(KeepsToItsSchema, "one_of_many", module=__name__), server=PgBouncerSchemas()
)
loses_its_schema = dataclasses.replace(
    target_of(PreparesNothing, "loses_its_schema", module=__name__), server=PgBouncerSchemas()
)


@pytest.fixture(scope="module")
def schemas() -> Iterator[None]:
    with serving(PgBouncerSchemas()), serving(PostgresSchemas()):
        yield


def shared_by(target: Target, folder: Path) -> str | None:
    """What the probe says of two tenants."""
    with EventLoop() as loop:
        return what_is_shared(target, folder, loop, "sync", lambda _: None)


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize("target", [langgraph_postgres_search_path, one_of_many])
def test_a_tenant_has_a_schema_directly_and_where_each_transaction_asks_for_it(
    target: Target, tmp_path: Path
) -> None:
    assert shared_by(target, tmp_path) is None


def isolation_of(target: Target, folder: Path) -> ItemPlan:
    """A plan to judge whether stores and threads are kept apart."""
    facts = facts_of(target, folder) | {"opens_ms": SLOW_TO_OPEN_MS}
    return plan_of(target, "isolation", "sync", folder, facts=facts)


def lost() -> Target:
    """Who loses its schema, once the probe has seen that its workspaces share a store."""
    assert loses_its_schema.ref is not None
    told = dataclasses.replace(loses_its_schema.ref, shares_store=True)
    return dataclasses.replace(loses_its_schema, ref=told)


@pytest.mark.usefixtures("schemas")
def test_a_schema_that_the_connection_asked_for_is_lost_behind_a_pooler(tmp_path: Path) -> None:
    shared = shared_by(loses_its_schema, tmp_path)
    assert shared == "get_tuple finds in one what was put in another"
    program = to_json((Put("a", "", 2), Elsewhere("a", 1)))
    for target, status in ((lost(), Status.FAILING), (one_of_many, Status.FIXED)):
        answer = replay(isolation_of(target, tmp_path), target, WORKSPACES, program)
        assert answer.status is status, answer


@pytest.mark.nightly
@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize(
    ("target", "blamed"),
    [(langgraph_postgres_search_path, set()), (one_of_many, set()), (lost(), {WORKSPACES})],
)
def test_nothing_but_a_lost_schema_is_blamed(
    target: Target, blamed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_a_little(0, monkeypatch)
    outcome = judged(isolation_of(target, tmp_path), target)
    assert outcome.checked[WORKSPACES]
    assert outcome.unknown == {}
    assert {finding.contract for finding in outcome.findings} == blamed


@pytest.mark.usefixtures("schemas")
@pytest.mark.parametrize("kind", [PostgresSchemas(), PgBouncerSchemas()], ids=lambda one: one.title)
def test_the_sessions_of_one_schema_are_ended_and_it_outlives_the_server(kind: ServerKind) -> None:
    with place(kind) as here, place(kind) as other:
        with connected(here.dsn) as client, connected(other.dsn) as neighbour:
            for one in (client, neighbour):
                one.execute("BEGIN")
            here.end_sessions()
            neighbour.execute("COMMIT")
            with pytest.raises(psycopg.Error):
                client.execute("COMMIT")
        with connected(here.dsn) as client:
            client.execute(f"CREATE TABLE {here.name}.kept ()")
        here.restart()
        with connected(here.dsn) as client:
            assert client.execute(f"SELECT count(*) FROM {here.name}.kept").fetchone() == (0,)


@pytest.mark.usefixtures("schemas")
def test_a_client_behind_a_pooler_has_no_session_while_it_is_idle() -> None:
    with place(PgBouncerSchemas()) as here, connected(here.dsn) as client:
        client.execute("SELECT 1")
        with pytest.raises(ServerError, match="no session but in a transaction"):
            here.end_sessions()
        client.execute("SELECT 1")
