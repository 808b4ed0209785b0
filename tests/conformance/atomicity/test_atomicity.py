"""Savers right and wrong under faults: each flaw is blamed on its contract, and no other.

By day one of each kind; what the self-test blames as well, and what only repeats, by night.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tests.nights import by_night
from tests.reference.database import Database
from tests.reference.lmdb_value import LmdbReference
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.neighbours import LastOneCommitsForAll, RollbackTakesTheNeighbours
from tests.wrong_savers.transactions import Autocommitting, NeverRollingBack, Swallowing

from saverproof.families import registry
from saverproof.families.answer import Status
from saverproof.families.atomicity.fault_plans import Injection, injections, lasting
from saverproof.families.atomicity.replay import replay
from saverproof.families.items import ItemPlan, Outcome
from saverproof.programs.small import OTHER, THREAD
from saverproof.savers.targets.target import Target
from saverproof_faults import Call, Event, Fault, Place, Places
from saverproof_faults import Plan as Plan_
from saverproof_savers import targets

OPERATIONS = ["put", "put_writes", "get_tuple", "list", "delete_thread", "delete_for_runs"]
OPERATIONS += ["copy_thread", "prune", "delta_history"]
FAMILY = {"all-or-nothing", "no-late-commit", "usable-after", "no-silent-loss", "previous-intact"}


def plan_for(folder: Path, api: str, operations: list[str], profile: str = "quick") -> ItemPlan:
    present = ["sync", "async", "serializer", "history", "many_processes", *operations]
    facts = {
        "durable": True,
        "operations": {api: operations},
        "capabilities": present,
        "absent": {},
        "opens_ms": 1.0,
        "packages": {"langgraph-checkpoint": version("langgraph-checkpoint")},
    }
    return ItemPlan({}, facts, "atomicity", api, profile, 0, str(folder))


def judged(target: Target, folder: Path, api: str = "sync", **more: Any) -> Outcome:
    operations = more.pop("operations", OPERATIONS)
    return registry.judged(plan_for(folder, api, operations, **more), target)


def target_of(database: type[Database]) -> Target:
    class Saver(SqliteReference):
        database_class = database

    return of_class(Saver)


def of_class(saver: Any, **options: Any) -> Target:
    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        with closing(saver.at(workspace.path)) as made:
            yield made

    return Target(name="tried", open=opened, **options)


def found(outcome: Outcome) -> set[str]:
    return {finding.contract.removeprefix("atomicity/") for finding in outcome.findings}


class AtWorkOnce(SqliteReference):
    """Is still at work in the background when others look for the first time."""

    been_at_work = False

    def put(self, config: Any, *given: Any) -> Any:
        there = {
            thread
            for thread in (THREAD, OTHER)
            if self.get_tuple({"configurable": {"thread_id": thread}}) is not None
        }
        answer = super().put(config, *given)
        # So it is in the first clean run: a new thread beside another one.
        if there == {OTHER} and not AtWorkOnce.been_at_work:
            AtWorkOnce.been_at_work = True
            beside = self.database.open()
            beside.execute("BEGIN IMMEDIATE")
            threading.Timer(0.3, beside.close).start()
        return answer


class CommitInFinally(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            try:
                self.begin()
                yield
            finally:
                try:
                    self.commit()
                except BaseException:
                    self.roll_back()
                    raise


class NextCall(Database):
    """Commits when the next transaction begins."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if self.connection.in_transaction:
                self.commit()
            self.begin()
            yield


class TwoCommits(SqliteReference):
    def _delete(self, thread: str) -> None:
        self.database.run("DELETE FROM checkpoints WHERE thread = ?", thread)
        self.database.commit()
        self.database.begin()
        self.database.run("DELETE FROM writes WHERE thread = ?", thread)


@pytest.mark.parametrize(
    ("database", "contract"),
    [
        (CommitInFinally, "all-or-nothing"),
        by_night(Autocommitting, "all-or-nothing"),
        by_night(NeverRollingBack, "no-late-commit"),
        by_night(Swallowing, "no-silent-loss"),
        by_night(NextCall, "no-silent-loss"),
    ],
)
def test_a_wrong_end_of_transactions_is_blamed(
    database: type[Database], contract: str, tmp_path: Path
) -> None:
    outcome = judged(target_of(database), tmp_path)
    follows = {"usable-after"} if contract == "no-late-commit" else set()
    assert contract in found(outcome)
    assert found(outcome) <= {contract} | follows


def test_an_operation_in_two_transactions_is_torn(tmp_path: Path) -> None:
    outcome = judged(of_class(TwoCommits), tmp_path)
    assert found(outcome) == {"all-or-nothing"}
    # One for each operation that has it.
    torn = sorted(finding.summary.partition(" ")[0] for finding in outcome.findings)
    assert torn == ["delete_thread", "prune"]


@pytest.mark.parametrize("api", [by_night("sync"), "async"])
def test_the_bundled_saver_holds_everything(api: str, tmp_path: Path) -> None:
    outcome = judged(targets.sqlite, tmp_path, api)
    assert found(outcome) == set()
    assert outcome.unknown == {}
    wanted = {"all-or-nothing", "no-late-commit", "usable-after", "previous-intact"}
    wanted |= {"failed-reads-raise"}
    wanted |= {"cancelled"} if api == "async" else set()
    assert all(outcome.checked[f"atomicity/{name}"] for name in wanted)


def test_reads_of_a_mapped_file_are_not_held(tmp_path: Path) -> None:
    outcome = judged(of_class(LmdbReference), tmp_path)
    assert "no read was seen to ask" in outcome.unexercised["atomicity/failed-reads-raise"]


def test_every_fault_stands_in_the_map(tmp_path: Path) -> None:
    operations = ["put", "put_writes", "get_tuple"]
    faults = judged(targets.sqlite, tmp_path, operations=operations).extra["faults"]
    tried = sum(entry.get("count", 1) for entry in faults["map"])
    # What one saver lives through in a row, or two callers, fails where the map has places already;
    # what it reads has none there.
    others = [faults["by_kind"][name] for name in ("in a row", "of two callers", "in reads")]
    assert tried == faults["injected"] - sum(others) > 100
    assert faults["injected"] == sum(faults["by_kind"].values())
    assert others[0] > 20
    assert {entry["kind"] for entry in faults["map"]} == {"client", "engine", "io", "serialization"}
    assert {entry["outcome"] for entry in faults["map"]} <= {"clean", "held"}


def test_a_saver_without_a_driver_is_told_of_the_hooks(tmp_path: Path) -> None:
    @contextmanager
    def opened(workspace: object) -> Iterator[Any]:
        yield InMemorySaver()

    target = Target(name="memory", open=opened, durable=False, drivers=("nosuch",))
    outcome = judged(target, tmp_path, operations=["put", "put_writes", "delete_thread"])
    # What needs no driver is tried all the same: it stores a batch in part.
    (found,) = outcome.findings
    assert found.contract == "atomicity/all-or-nothing"
    assert "the serializer raises" in " ".join(found.steps)
    assert {*outcome.unexercised} >= {f"atomicity/{name}" for name in FAMILY} - {
        "atomicity/all-or-nothing",
        "atomicity/cancelled",
    }
    (reason,) = set(outcome.unexercised.values())
    assert "ClassDriver" in reason
    assert "'nosuch'" in reason


def test_a_saver_that_refuses_every_call_is_unknown_and_not_excused(tmp_path: Path) -> None:
    class Refusing(SqliteReference):
        def put(self, *arguments: Any) -> Any:
            raise RuntimeError("not today")

    outcome = judged(of_class(Refusing), tmp_path, operations=["put"])
    assert sum(outcome.checked.values()) == 0
    assert "not today" in outcome.unknown["atomicity/all-or-nothing"]


def test_faults_that_last_are_as_many_as_there_are_places() -> None:
    places = [Place(Event.STATEMENT, number) for number in (1, 2)]
    single = [Injection(Plan_(Fault.RAISE, place)) for place in places]
    more = list(lasting(tuple(single), ()))
    assert len(more) == 6
    assert len({injection.describe() for injection in more}) == 6


def test_the_rollback_that_fails_too_is_the_next_one() -> None:
    calls = [
        Call(Event.BEGIN, 1, "BEGIN"),
        Call(Event.ROLLBACK, 1, "rollback()"),
        Call(Event.BEGIN, 2, "BEGIN IMMEDIATE"),
    ]
    single = [Injection(Plan_(Fault.RAISE, Place(Event.BEGIN, number))) for number in (1, 2)]
    also = [each.also.place for each in lasting(single, calls) if each.also is not None]
    assert [(place.event, place.index) for place in also] == [
        (Event.ROLLBACK, 1),
        (Event.ROLLBACK, 2),
    ]


@pytest.mark.parametrize("remote", [False, True])
def test_a_rollback_that_ends_a_read_is_not_failed(remote: bool) -> None:
    statements = ["BEGIN", "SELECT 1", "ROLLBACK", "BEGIN", "INSERT INTO t VALUES (1)", "ROLLBACK"]
    kinds = {"BEGIN": Event.BEGIN, "ROLLBACK": Event.ROLLBACK}
    events = [kinds.get(sql, Event.STATEMENT) for sql in statements]
    calls = tuple(
        Call(event, events[: at + 1].count(event), sql, remote=remote)
        for at, (event, sql) in enumerate(zip(events, statements, strict=True))
    )
    plans = [one.plan for one in injections(Places(calls=calls), (), 0) if one.plan is not None]
    failed = {one.place.index for one in plans if one.place.event is Event.ROLLBACK}
    assert failed == {2}


class CutsConnections:
    """A driver that can cut connections; what it installs is sqlite3's own business."""

    name, modules = "losing", ("sqlite3",)
    latest: Database

    def install(self) -> Any:
        return lambda: None

    def lose(self) -> None:
        self.latest.connection.close()


class Noted(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        CutsConnections.latest = self


class NeverAgain(Noted):
    def reconnect_if_lost(self) -> None:
        return


@pytest.mark.parametrize(
    ("database", "expected"),
    [by_night(Noted, set()), (NeverAgain, {"usable-after-lost-connection"})],
)
def test_a_lost_connection_is_advice(
    database: type[Database], expected: set[str], tmp_path: Path
) -> None:
    class Saver(SqliteReference):
        database_class = database

    target = of_class(Saver, drivers=(CutsConnections(),))
    outcome = judged(target, tmp_path, profile="default", operations=["put"])
    assert found(outcome) == expected
    assert outcome.checked["atomicity/usable-after-lost-connection"]


def test_what_was_found_can_be_replayed(tmp_path: Path) -> None:
    outcome = judged(target_of(NeverRollingBack), tmp_path, operations=["put", "put_writes"])
    finding = next(f for f in outcome.findings if f.contract == "atomicity/no-late-commit")
    plan = plan_for(tmp_path, "sync", ["put", "put_writes"])
    recorded = finding.contract, finding.program
    assert replay(plan, target_of(NeverRollingBack), *recorded).status is Status.FAILING
    mended = replay(plan, of_class(SqliteReference), *recorded)
    assert mended.status is Status.FIXED
    assert "instead" not in mended.said


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "expected an object with 'program' and 'fault'"),
        ({"program": [], "fault": None}, "expected the last to be one of Put"),
        ({"program": [{"step": "DeleteThread", "thread": "a"}], "fault": 7}, "found 7"),
        (
            {
                "program": [{"step": "DeleteThread", "thread": "a"}],
                "fault": {"fault": "serializer", "value": 0},
            },
            "expected a number from 1",
        ),
    ],
)
def test_what_is_no_recorded_program_gets_one_line(data: Any, says: str, tmp_path: Path) -> None:
    plan = plan_for(tmp_path, "sync", ["put"])
    with pytest.raises(ValueError, match=says) as raised:
        replay(plan, of_class(SqliteReference), "atomicity/no-late-commit", data)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("saver", "api", "contract"),
    [
        by_night(RollbackTakesTheNeighbours, "sync", "no-silent-loss"),
        (LastOneCommitsForAll, "async", "all-or-nothing"),
    ],
)
def test_a_meeting_of_two_callers_is_replayed(
    saver: type[SqliteReference], api: str, contract: str, tmp_path: Path
) -> None:
    outcome = judged(of_class(saver), tmp_path, api, operations=["put", "put_writes"])
    finding = next(f for f in outcome.findings if f.contract == f"atomicity/{contract}")
    assert "meanwhile, another caller" in finding.steps[-1]
    plan = plan_for(tmp_path, api, ["put", "put_writes"])
    recorded = finding.contract, json.loads(json.dumps(finding.program))
    assert replay(plan, of_class(saver), *recorded).status is Status.FAILING
    assert replay(plan, of_class(SqliteReference), *recorded).status is not Status.FAILING


def test_a_lock_that_is_given_back_soon_is_no_loss(tmp_path: Path) -> None:
    AtWorkOnce.been_at_work = False
    outcome = judged(of_class(AtWorkOnce), tmp_path, operations=["put"])
    assert AtWorkOnce.been_at_work
    assert found(outcome) == set()
