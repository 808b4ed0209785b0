"""What right and known savers cost is told, and nothing is held that was not measured.

By day the saver in memory, and callers; right savers are judged by day in `test_right_savers`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from psycopg_pool import ConnectionPool
from redis import Redis
from tests.conformance.cost.cost_savers import here
from tests.conformance.cost.cost_support import (
    ALL,
    CALLERS,
    blamed,
    judged,
    judged_whole,
    plan_for,
    the,
    without_script,
)
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.nights import by_night
from tests.reference.pooled import ReaderPool

from saverproof.families.cost import family, reporting
from saverproof.families.cost.family import CostFamily
from saverproof.families.cost.measuring import CostBench, CostMeasurement
from saverproof.families.cost.pools import room_of
from saverproof.families.cost.questions import QUESTIONS
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.tally import Tally

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")
MEMORY = "saverproof_savers.targets:memory"
SQLITE = "saverproof_savers.targets:sqlite"
OFFICIAL = "saverproof_savers.targets:langgraph_sqlite"


REFERENCES = {
    one["name"]: one["laws"]
    for one in json.loads(files("saverproof_reports").joinpath("reference_laws.json").read_text())
}


def _series(law: Any) -> tuple[str, ...]:
    return law["question"], law["item"], law["witness"]


@pytest.fixture
def without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "reproducer", without_script)


# --- right savers, and known ones ---------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "api"), [(here("paged"), "sync"), (SQLITE, "sync"), (SQLITE, "async")]
)
def test_a_saver_whose_costs_do_not_grow_is_accused_of_nothing(where: str, api: str) -> None:
    outcome = judged_whole(where, api)
    assert blamed(outcome) == set()
    assert outcome.checked.keys() == ALL - {CALLERS}
    assert outcome.inapplicable[CALLERS].startswith("the saver refers to no pool of two")


def test_a_fixed_number_of_small_reads_is_no_growth(tmp_path: Path) -> None:
    outcome = judged(here("last-bytes"), tmp_path, only={"cost/get-latest"})
    assert blamed(outcome) == set()
    assert "cost/get-latest" in outcome.checked
    reads = [law for law in outcome.extra["cost"]["laws"] if law["witness"] == "reads"]
    assert reads
    assert all(min(law["counts"]) >= 32 for law in reads)


def test_what_is_due_for_many_calls_is_no_growth(tmp_path: Path) -> None:
    outcome = judged(here("writes-back-now-and-then"), tmp_path, only={"cost/copy"})
    assert blamed(outcome) == set()
    assert "cost/copy" in outcome.checked


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
    ("where", "of"), [by_night(SQLITE, "bundled SqliteSaver"), (MEMORY, "InMemorySaver")]
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


@pytest.mark.nightly
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
    ("counted", "unsteady", "accused"),
    [
        ([(13, 13, 18), (13, 13, 13)], {"calls"}, False),
        ([(13, 13, 180), (13, 13, 180)], {"calls"}, True),
        # Where equal answers cost the same, the first count is as good as any other.
        ([(13, 13, 180)], set(), True),
    ],
)
def test_what_is_counted_unsteadily_is_counted_again(
    counted: list[tuple[int, ...]],
    unsteady: set[str],
    accused: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, found = plan_for(here("paged"), tmp_path)
    contract = "cost/get-by-id"
    left = iter(counted)

    def measured(bench: Any, store: Any, sizes: Any, questions: Any) -> list[CostMeasurement]:
        [asked] = questions
        counts, of = {"calls": [*next(left)]}, [16, 64, 256]
        return [CostMeasurement(asked, of, of, counts, unsteady=unsteady)]

    question = next(one for one in QUESTIONS if one.contract == contract)
    monkeypatch.setattr(family, "QUESTIONS", [question])
    monkeypatch.setattr(CostBench, "measure", measured)
    tally = Tally(plan)
    for other in ALL - {contract}:
        tally.rule_out(other, "left out")
    CostFamily().judge(plan, found, tally)
    outcome = tally.outcome()
    assert [*left] == []
    assert ({one.contract for one in outcome.findings} == {contract}) is accused
    if not accused:
        varied = "costs more or less each time: 13, 13, 18 calls of its database driver; 13, 13, 13"
        assert varied in outcome.unexercised[contract]


def test_a_script_counts_in_sqlite_however_a_driver_connects(tmp_path: Path) -> None:
    outcome = judged(here("scans-by-the-other-name"), tmp_path, only={"cost/get-by-id"})
    assert "sqlite3.dbapi2.connect" in the(outcome, "cost/get-by-id").reproducer


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
@pytest.mark.parametrize(("where", "api"), [by_night(SQLITE, "async"), (MEMORY, "sync")])
def test_counts_are_the_same_in_every_run(where: str, api: str, tmp_path: Path) -> None:
    # `make steady` compares all of them.
    only = ALL if EVERY_FAMILY else {"cost/page"}
    first, again = (judged(where, tmp_path / name, api, only).extra["cost"] for name in "ab")
    assert first["laws"]
    assert first == again
