"""What operations cost as a store grows: growth is found, blamed rightly, and nothing else is."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from psycopg_pool import ConnectionPool
from redis import Redis
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of
from tests.conformance.selftest_support import EVERY_FAMILY, allowed
from tests.reference.database import Database
from tests.reference.paged import PagedReference
from tests.reference.pooled import PooledReference, ReaderPool
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, WrongSaver, opener
from tests.wrong_savers.cost import OneLockOverThePool, ScanInPython

from saverproof import Capability, target
from saverproof.contracts.registry import contracts
from saverproof.families.answer import Status
from saverproof.families.cost import family, reporting
from saverproof.families.cost.effort import sizes_of
from saverproof.families.cost.family import CostFamily
from saverproof.families.cost.judging import breaches, doubts
from saverproof.families.cost.measuring import CostMeasurement
from saverproof.families.cost.pools import room_of
from saverproof.families.cost.questions import BY_NAME
from saverproof.families.cost.stores import Checkpoints, Limit
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.laws import GrowthOrder, law_of
from saverproof.families.tally import Tally
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

ALL = {contract.id for contract in contracts("cost")}
CALLERS = "cost/callers-at-once"
WRONG_COSTS = [wrong for wrong in WRONG if wrong.breaks.startswith("cost/")]
MEMORY = "saverproof_savers.targets:memory"
SQLITE = "saverproof_savers.targets:sqlite"
OFFICIAL = "saverproof_savers.targets:langgraph_sqlite"


REFERENCES = {
    one["name"]: one["laws"]
    for one in json.loads(files("saverproof_reports").joinpath("reference_laws.json").read_text())
}


def _series(law: Any) -> tuple[str, ...]:
    return law["question"], law["item"], law["witness"]


def made(name: str, saver: Any, **more: Any) -> Any:
    return target(name=name, **more)(opener(saver))


class Raising(PagedReference):
    def get_tuple(self, config: Any) -> Any:
        raise RuntimeError("out of order")


class Forgetting(PagedReference):
    def get_tuple(self, config: Any) -> Any:
        return None


SAVERS = SimpleNamespace(
    **{
        wrong.name.replace("-", "_"): target(
            name=wrong.name, drop=wrong.drop, durable=issubclass(wrong.saver, SqliteReference)
        )(wrong.make)
        for wrong in WRONG_COSTS
    },
    paged=made("paged", PagedReference),
    pooled=made("pooled", PooledReference),
    raising=made("raising", Raising),
    forgetting=made("forgetting", Forgetting),
    locked_record=made(
        "locked-record",
        OneLockOverThePool,
        capabilities={Capability.SEPARATE_RECORDS: "a thread is one document"},
    ),
    one_record=made(
        "one-record",
        ScanInPython,
        capabilities={Capability.SEPARATE_RECORDS: "a thread is one document"},
    ),
)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "synchronous", "OFF")


def here(name: str) -> str:
    return f"{__name__}:SAVERS.{name.replace('-', '_')}"


def plan_for(where: str, folder: Path, api: str = "sync", **more: Any) -> tuple[ItemPlan, Any]:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    found = load(ref)
    facts: Any = facts_from(EVERY_OPERATION, durable=found.durable)
    if not where.startswith(__name__):
        facts = facts_of(found, folder)
    for capability, why in found.capabilities.items():
        facts["capabilities"].remove(str(capability))
        facts["absent"][str(capability)] = why
    more = {"profile": "quick", **more}
    return ItemPlan(ref.to_json(), facts, "cost", api, seed=0, folder=str(folder), **more), found


def judged(
    where: str, folder: Path, api: str = "sync", only: Collection[str] = ALL, **more: Any
) -> Outcome:
    plan, found = plan_for(where, folder, api, **more)
    tally = Tally(plan)
    for contract in ALL - {*only}:
        tally.rule_out(contract, "left out")
    CostFamily().judge(plan, found, tally)
    return tally.outcome()


@cache
def judged_whole(where: str, api: str = "sync") -> Outcome:
    """Without scripts, once for all tests."""
    with (
        mock.patch.object(reporting, "reproducer", without_script),
        scratch_folder(root=in_memory()) as folder,
    ):
        return judged(where, folder, api)


def without_script(*_: Any) -> str:
    return ""


def blamed(outcome: Outcome) -> set[str]:
    return {finding.contract for finding in outcome.findings}


def the(outcome: Outcome, contract: str) -> Finding:
    return next(found for found in outcome.findings if found.contract == contract)


@pytest.fixture
def without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "reproducer", without_script)


# --- wrong savers ------------------------------------------------------------------------

SHOW_ONE_WITNESS_EACH = {
    "scan-in-the-engine",
    "scan-in-python",
    "latest-of-all",
    "query-for-each-checkpoint",
    "values-read-to-filter",
    "unchanged-channels-again",
    "runs-without-index",
    "values-stay-after-prune",
    "one-lock-over-the-pool",
}


@pytest.mark.parametrize("wrong", WRONG_COSTS, ids=lambda wrong: wrong.name)
def test_a_cost_that_grows_is_found(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = EVERY_FAMILY or wrong.name in SHOW_ONE_WITNESS_EACH
    if not shown:
        monkeypatch.setattr(reporting, "reproducer", without_script)
    outcome = judged(here(wrong.name), tmp_path, only=ALL if EVERY_FAMILY else {wrong.breaks})
    assert wrong.breaks in blamed(outcome)
    assert blamed(outcome) <= allowed(wrong)
    assert outcome.unknown == {}
    if shown:
        assert_shown_by_a_script_and_by_replaying(the(outcome, wrong.breaks), wrong, tmp_path)


def assert_shown_by_a_script_and_by_replaying(
    found: Finding, wrong: WrongSaver, folder: Path
) -> None:
    # There is none that has not ended with 1 in a process of its own.
    assert found.reproducer
    right = "pooled" if wrong.breaks == CALLERS else "paged"
    for name, status in ((wrong.name, Status.FAILING), (right, Status.FIXED)):
        plan, saver = plan_for(here(name), folder / name)
        answer = CostFamily().replay(plan, saver, wrong.breaks, found.program)
        assert answer.status is status, answer.said


def test_each_contract_has_a_wrong_saver() -> None:
    assert {wrong.breaks for wrong in WRONG_COSTS} == ALL


# --- right savers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "api"), [(here("paged"), "sync"), (SQLITE, "sync"), (SQLITE, "async")]
)
def test_a_saver_whose_costs_do_not_grow_is_accused_of_nothing(where: str, api: str) -> None:
    outcome = judged_whole(where, api)
    assert blamed(outcome) == set()
    assert outcome.checked.keys() == ALL - {CALLERS}
    assert outcome.inapplicable[CALLERS].startswith("the saver refers to no pool of two")


def test_the_linear_costs_of_memory_are_told() -> None:
    outcome = judged_whole(MEMORY)
    assert {found.contract: found.summary for found in outcome.findings} == {
        "cost/page": "list with limit 10 executes 2 lines of Python more for each checkpoint in "
        "the thread",
        "cost/delta-history": "get_delta_channel_history of the latest checkpoint executes 6 lines "
        "of Python more for each checkpoint before the channel's stored value",
        "cost/delete": "delete_thread executes 8.1 lines of Python more for each other thread in "
        "the store",
    }
    assert {"cost/get-latest", "cost/bytes-per-step"} < outcome.inapplicable.keys()


@pytest.mark.parametrize(
    ("where", "of"), [(SQLITE, "bundled SqliteSaver"), (MEMORY, "InMemorySaver")]
)
def test_charts_show_what_the_savers_beside_any_other_cost_now(where: str, of: str) -> None:
    shipped = {_series(law): law for law in REFERENCES[of]}
    laws = judged_whole(where).extra["cost"]["laws"]
    assert shipped.keys() == {_series(law) for law in laws}
    for law in laws:
        known = dict(zip(*(shipped[_series(law)][key] for key in ("sizes", "counts")), strict=True))
        # On one release of Python they are equal; others count lines a little differently.
        slack = WITNESSES[law["witness"]].slack
        expected = [pytest.approx(known[size], rel=0.5, abs=slack) for size in law["sizes"]]
        assert law["counts"] == expected, _series(law)


def test_what_the_official_sqlite_saver_does_more_than_once_is_told() -> None:
    assert {found.contract: found.summary for found in judged_whole(OFFICIAL).findings} == {
        "cost/put": "put of one more checkpoint writes 1 byte more for each byte of a channel that "
        "does not change",
        "cost/page": "list with a limit makes 1 call of its database driver more for each "
        "checkpoint asked for",
        "cost/filter": "list with a filter that one checkpoint fits reads 56 bytes more for each "
        "byte of a value that the filter leaves out",
        "cost/bytes-per-step": "the store keeps 37 bytes more for each byte of a channel that does "
        "not change in 32 steps",
    }


@pytest.mark.usefixtures("without_scripts")
def test_one_record_is_told_as_what_it_is(tmp_path: Path) -> None:
    outcome = judged(here("one-record"), tmp_path, only={"cost/get-by-id", "cost/put"})
    assert blamed(outcome) == set()
    assert outcome.inapplicable["cost/get-by-id"].startswith(
        "separate_records: a thread is one document; measured: get_tuple of an old and of a new "
        "checkpoint by their ids takes 12 steps of SQLite's machine more for each checkpoint"
    )
    assert "cost/put" in outcome.checked


@pytest.mark.parametrize("api", ["sync", "async"])
def test_callers_who_meet_in_the_database_are_accused_of_nothing(api: str, tmp_path: Path) -> None:
    outcome = judged(here("pooled"), tmp_path, api, only={CALLERS})
    assert blamed(outcome) == set()
    assert CALLERS in outcome.checked


@pytest.mark.usefixtures("without_scripts")
def test_one_lock_over_one_record_is_told_as_what_it_is(tmp_path: Path) -> None:
    outcome = judged(here("locked-record"), tmp_path, only={CALLERS})
    assert blamed(outcome) == set()
    assert outcome.inapplicable[CALLERS] == (
        "separate_records: a thread is one document; measured: 1 of 4 callers of get_tuple reaches "
        "the database at a time, although its pool has room for 4 connections"
    )


class Client:
    """As clients have it: their pool lies behind them."""

    def __init__(self, pool: Any) -> None:
        self.commands = SimpleNamespace(pool=pool, executor=ThreadPoolExecutor(8))


@pytest.mark.parametrize(
    ("saver", "room"),
    [
        (Client(ConnectionPool("", max_size=7, open=False)), 7),
        (Client(Redis(max_connections=9)), 9),
        (Client(ReaderPool(lambda: sqlite3.connect(":memory:"))), 4),
        (Client(sqlite3.connect(":memory:")), 0),
        (Client(None), 0),
    ],
    ids=["psycopg", "redis", "the saver's own", "one connection", "none"],
)
def test_the_room_of_a_pool_is_found(saver: Any, room: int) -> None:
    assert room_of(saver) == room


# --- what nothing is known of --------------------------------------------------------------


def test_nothing_is_known_of_a_saver_that_raises(tmp_path: Path) -> None:
    outcome = judged(here("raising"), tmp_path, only={"cost/get-by-id", "cost/put"})
    assert outcome.unknown["cost/get-by-id"].endswith("RuntimeError: out of order")
    assert "cost/put" in outcome.checked


def test_what_is_not_given_costs_nothing_and_proves_nothing(tmp_path: Path) -> None:
    outcome = judged(here("forgetting"), tmp_path, only={"cost/get-latest"})
    assert outcome.unknown["cost/get-latest"].endswith("does not give what was put")


def test_without_a_witness_nothing_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "saverproof_faults.counters.process_io.unavailable"
    monkeypatch.setattr(missing, lambda: "this system does not tell")
    outcome = judged(here("paged"), tmp_path, only={"cost/put", "cost/space-given-back"})
    # What is kept is counted in files.
    assert outcome.checked.keys() == {"cost/space-given-back"}
    assert outcome.unexercised["cost/put"] == "this system does not tell"


@pytest.mark.parametrize(
    ("witness", "accused", "doubted"),
    [("rows", False, True), ("blocks", False, True), ("unindexed", True, False)],
)
def test_what_a_planner_chose_accuses_nobody_and_holds_nothing(
    witness: str, accused: bool, doubted: bool
) -> None:
    question = BY_NAME["Checkpoints.get_by_id"]
    sizes = [16, 64, 256]
    grown = CostMeasurement(question, sizes, sizes, {witness: [size * 2 for size in sizes]})
    flat = CostMeasurement(question, sizes, sizes, {witness: [8, 8, 8]})
    assert [bool(breaches([grown])), bool(doubts([grown]))] == [accused, doubted]
    assert [*breaches([flat]), *doubts([flat])] == []


def test_stores_are_left_out_where_there_is_no_time(tmp_path: Path) -> None:
    outcome = judged(here("paged"), tmp_path, budget_s=0.0)
    assert "cost/get-by-id" not in outcome.checked
    assert "stores that grow; a larger --saver-budget" in outcome.unexercised["cost/get-by-id"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "found [], expected an object with question, witness, sizes"),
        (
            {"question": "none", "witness": "lines", "sizes": [1, 2, 3]},
            "question: found 'none', expected one of Checkpoints.get_by_id",
        ),
        (
            {"question": "Limit.page_of_size", "witness": "luck", "sizes": [1, 2, 3]},
            "witness: found 'luck', expected one of calls",
        ),
        (
            {"question": "Limit.page_of_size", "witness": "lines", "sizes": [3, 2, 1]},
            "sizes: found [3, 2, 1], expected three or more whole numbers, rising",
        ),
    ],
)
def test_what_cannot_be_measured_again_is_said(data: Any, said: str, tmp_path: Path) -> None:
    plan, saver = plan_for(here("paged"), tmp_path)
    with pytest.raises(ValueError, match=re.escape(said)):
        CostFamily().replay(plan, saver, "cost/page", data)
    with pytest.raises(ValueError, match="expected an object with callers"):
        CostFamily().replay(plan, saver, CALLERS, data)


def test_a_death_is_blamed_on_the_store_that_was_grown(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    judged(here("paged"), tmp_path, journal=str(journal), budget_s=0.0)
    plan, saver = plan_for(here("paged"), tmp_path)
    lines = [family.json.loads(line) for line in journal.read_text().splitlines()]
    blames = [CostFamily().blame_of_death(plan, saver, [line]) for line in lines]
    assert [(blame.contract, blame.steps) for blame in blames] == [
        ("cost/get-by-id", ("let Checkpoints grow",)),
        (CALLERS, ("call the saver by several callers at once",)),
    ]


# --- counts ------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_scripts")
@pytest.mark.parametrize(("where", "api"), [(SQLITE, "async"), (MEMORY, "sync")])
def test_counts_are_the_same_in_every_run(where: str, api: str, tmp_path: Path) -> None:
    # `make steady` compares all of them.
    only = ALL if EVERY_FAMILY else {"cost/page"}
    first, again = (judged(where, tmp_path / name, api, only).extra["cost"] for name in "ab")
    assert first["laws"]
    assert first == again


def test_a_law_needs_three_sizes() -> None:
    with pytest.raises(ValueError, match="found 2 sizes and 2 counts, expected three or more"):
        law_of([1, 2], [1, 2], 0)


SIZES = (16, 64, 256, 1_024)


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ((100, 100, 100, 100), GrowthOrder.CONSTANT),
        ((100, 90, 80, 70), GrowthOrder.CONSTANT),
        ((100, 110, 115, 124), GrowthOrder.CONSTANT),
        ((0, 0, 10, 10), GrowthOrder.CONSTANT),
        ((100, 200, 300, 400), GrowthOrder.LOGARITHMIC),
        ((100, 200, 200, 300), GrowthOrder.LOGARITHMIC),
        ((100, 100, 200, 200), GrowthOrder.LOGARITHMIC),
        ((16, 64, 256, 1_024), GrowthOrder.LINEAR),
        ((1_016, 1_064, 1_256, 2_024), GrowthOrder.LINEAR),
        ((0, 0, 0, 400_000), GrowthOrder.LINEAR),
        ((256, 4_096, 65_536, 1_048_576), GrowthOrder.MORE),
        ((160, 896, 4_608, 22_528), GrowthOrder.LINEAR),
    ],
)
def test_the_simplest_law_that_fits(counts: tuple[int, ...], order: GrowthOrder) -> None:
    assert law_of(SIZES, counts, slack=10).order is order


def test_what_one_more_adds_is_told_where_there_are_most() -> None:
    assert law_of(SIZES, (1_016, 1_064, 1_256, 2_024), slack=10).per_item == 1.0


def test_a_few_more_calls_for_a_longer_page_are_no_query_for_each() -> None:
    question = BY_NAME["Limit.page_of_size"]
    in_pages = law_of((4, 16, 64), (3, 3, 12), slack=3)
    for_each = law_of((4, 16, 64), (5, 17, 65), slack=3)
    assert not question.is_broken_by("calls", in_pages)
    assert question.is_broken_by("calls", for_each)


def test_sizes_are_chosen_by_what_a_call_takes() -> None:
    facts: Any = facts_from(EVERY_OPERATION)
    assert sizes_of(Checkpoints, "default", {**facts, "call_ms": 0.5}) == SIZES
    assert sizes_of(Checkpoints, "default", {**facts, "call_ms": 10.0}) == SIZES[:3]
    assert sizes_of(Checkpoints, "quick", {**facts, "call_ms": 500.0}) == SIZES[:3]
    assert sizes_of(Limit, "quick", {**facts, "call_ms": 500.0}) == (4, 16, 64)
