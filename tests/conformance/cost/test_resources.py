"""What stays of a saver's work is found, told where it comes from, and nothing else is accused.

By day of what most kinds of work and of things leave; the rest, and other right savers, by night.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cost import resources_savers
from tests.conformance.cost.resources_savers import FLAT, LEAKING, UNKNOWN, NamedLock
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of
from tests.conformance.script_runs import PATIENCE_S, ended
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.nights import by_night, through_the_day
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WrongSaver
from tests.wrong_savers.resources import OpeningStartsThread

from saverproof.families.answer import Status
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.laws import law_of
from saverproof.families.resources import family, holdings, measuring, reporting
from saverproof.families.resources.failing_calls import answering_within
from saverproof.families.resources.family import ResourcesFamily, ResourcesJudging
from saverproof.families.resources.judging import Leak
from saverproof.families.resources.measuring import ResourceMeasurement
from saverproof.families.resources.scripts import likeliest, script
from saverproof.families.resources.work import (
    Cancellations,
    CancelledHistories,
    CancelledWrites,
    Copies,
    FailedDeletions,
    FailedGets,
    FailedPuts,
    Failing,
    Failures,
    FirstGets,
    Gets,
    LeftListings,
    Listings,
    Openings,
    Puts,
    RunDeletions,
    Searches,
    UnknownThreads,
    Work,
)
from saverproof.families.tally import Tally
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.scripts.opening import opening_of

SQLITE = "saverproof_savers.targets:sqlite"
MEMORY = "saverproof_savers.targets:memory"
OFFICIAL = "saverproof_savers.targets:langgraph_sqlite"
OFFICIAL_ASYNC = "saverproof_savers.targets:langgraph_sqlite_async"


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "synchronous", "OFF")


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    yield
    OpeningStartsThread.end_all()


def here(name: str) -> str:
    return f"{resources_savers.__name__}:SAVERS.{name.replace('-', '_')}"


def plan_for(where: str, folder: Path, api: str = "sync", **more: Any) -> tuple[ItemPlan, Any]:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    found = load(ref)
    facts: Any = facts_from(EVERY_OPERATION, durable=found.durable)
    more = {"profile": "quick", "seed": 0, **more}
    return ItemPlan(ref.to_json(), facts, "resources", api, folder=str(folder), **more), found


def judged(where: str, folder: Path, api: str = "sync", **more: Any) -> Outcome:
    plan, found = plan_for(where, folder, api, **more)
    tally = Tally(plan)
    ResourcesFamily().judge(plan, found, tally)
    return tally.outcome()


SHOWN_BY = {
    "descriptor-each-read": Gets,
    "connection-each-batch": Puts,
    "cache-of-all-threads": Puts,
    "cache-of-all-that-is-read": FirstGets,
    "reads-are-noted": Gets,
    "failures-kept": Failures,
    "failed-connections-are-lost": Failures,
    "failed-reads-stay-open": FailedGets,
    "refused-connections-are-lost": FailedPuts,
    "temporary-file-each-put": Puts,
    "thread-feeds-listing": LeftListings,
    "task-each-put": Puts,
    "pool-loses-connections": Cancellations,
    "cancelled-batch-keeps-its-file": CancelledWrites,
    "cancelled-history-keeps-its-file": CancelledHistories,
    "temporary-file-each-copy": Copies,
    "opening-starts-thread": Openings,
    "engine-each-read": Gets,
    "lock-for-each-thread": UnknownThreads,
}
WITH_SCRIPT = {
    "descriptor-each-read",
    "cache-of-all-that-is-read",
    "cache-of-all-threads",
    "failed-connections-are-lost",
    "pool-loses-connections",
    "cancelled-batch-keeps-its-file",
    "cancelled-history-keeps-its-file",
    "lock-for-each-thread",
}


SLOW_BY_NIGHT = {
    "thread-feeds-listing",
    "cancelled-batch-keeps-its-file",
    "cancelled-history-keeps-its-file",
    "opening-starts-thread",
    "engine-each-read",
}
"""Threads are waited for, as long as idle ones may take to end; and what cancelled calls leave is
shown by those that lose connections.
"""


@pytest.mark.parametrize("wrong", through_the_day(LEAKING, len(LEAKING), SLOW_BY_NIGHT))
def test_what_stays_is_found(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EVERY_FAMILY:
        work = SHOWN_BY[wrong.name]
        monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [work])
        # What grows that long is no cache, which takes half a minute to see.
        monkeypatch.setattr(measuring, "DOUBLINGS", 1)
    # What fails in the database has none.
    of_failures = issubclass(SHOWN_BY[wrong.name], Failing)
    with_script = not of_failures and (EVERY_FAMILY or wrong.name in WITH_SCRIPT)
    if not with_script:
        monkeypatch.setattr(reporting, "reproducer", lambda target, found, api: "")
    api = wrong.apis[0]
    # What is opened for each read is opened for reads of unknown threads as well.
    findings = judged(here(wrong.name), tmp_path, api).findings
    (found,) = (each for each in findings if each.contract == wrong.breaks)
    assert {each.contract for each in findings} <= {wrong.breaks, UNKNOWN}
    assert found.contract == wrong.breaks
    # There is none that has not ended with 1 in a process of its own.
    assert found.reproducer or not with_script
    if with_script or of_failures:
        assert_shown_by_replaying(found, wrong, tmp_path)
    if wrong.name == "descriptor-each-read":
        assert_told_where_it_was_opened(found)


def assert_shown_by_replaying(found: Finding, wrong: WrongSaver, folder: Path) -> None:
    """Recorded, it is done again: by the same saver, and by one that is right."""
    for name, status in ((wrong.name, Status.FAILING), ("plain", Status.FIXED)):
        plan, saver = plan_for(here(name), folder / name, wrong.apis[0])
        answer = ResourcesFamily().replay(plan, saver, found.contract, found.program)
        assert answer.status is status, answer.said


def assert_told_where_it_was_opened(found: Finding) -> None:
    assert re.search(r"[\d,]+ descriptors stay after 630 times get_tuple", found.summary)
    assert re.search(r"96\d × \S+/checkpoints.db", found.observed)
    assert re.search(
        r"opened at tests/wrong_savers/resources.py:\d+, in DescriptorEachRead.get_tuple",
        found.observed,
    )


@pytest.mark.parametrize(
    ("where", "api"),
    [
        by_night(SQLITE, "sync"),
        by_night(SQLITE, "async"),
        (MEMORY, "sync"),
        (here("plain"), "async"),
        (here("remembering"), "sync"),
        (here("locks-while-they-are-held"), "sync"),
        by_night(OFFICIAL, "sync"),
        by_night(OFFICIAL_ASYNC, "async"),
    ],
)
def test_nothing_stays_of_a_right_saver(where: str, api: str, tmp_path: Path) -> None:
    plan, found = plan_for(where, tmp_path, api)
    tally = Tally(replace(plan, facts=facts_of(found, tmp_path)))
    ResourcesFamily().judge(tally.plan, found, tally)
    outcome = tally.outcome()
    # Its `storage` is a defaultdict, to which get_tuple and list add whatever they are asked for.
    advised = {UNKNOWN} if where == MEMORY else set()
    assert {finding.contract for finding in outcome.findings} == advised
    assert {FLAT, UNKNOWN} == outcome.checked.keys()


def test_a_lock_that_is_left_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [FailedPuts, FailedDeletions])
    monkeypatch.setattr(measuring, "_ANSWERS_S", 0.6)
    outcome = judged(here("leaves-its-lock"), tmp_path)
    # Other families tell what a single failure leaves.
    assert outcome.findings == ()
    assert (
        "put, failed by its database, repeated: TimeoutError: no answer in 0.6 s"
        in (outcome.unknown[FLAT])
    )


def test_a_time_out_that_a_saver_catches_ends_its_work_all_the_same() -> None:
    with (
        pytest.raises(TimeoutError, match=r"no answer in 0\.2 s"),
        answering_within(0.2),
        suppress(TimeoutError),
    ):
        threading.Event().wait(PATIENCE_S)


@pytest.mark.parametrize("where", [MEMORY, here("reads-once")])
def test_what_was_not_failed_is_named(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Gets, FailedGets])
    plan, found = plan_for(where, tmp_path)
    tally = Tally(plan)
    ResourcesFamily().judge(plan, found, tally)
    assert tally.sections["resources"]["notes"] == [
        "not tried, as no call of a known driver was seen: get_tuple, failed by its database"
    ]


def test_a_cache_that_is_full_in_the_end_is_no_leak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Puts])
    outcome = judged(here("remembering-many"), tmp_path)
    assert outcome.findings == ()
    assert FLAT in outcome.checked


def test_what_is_kept_for_a_thread_may_stay_until_it_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [RunDeletions, Failures])
    outcome = judged(here("file-for-each-thread"), tmp_path)
    assert outcome.findings == ()
    assert FLAT in outcome.checked


def test_threads_that_end_when_they_are_idle_do_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Gets])
    outcome = judged(here("ending-late"), tmp_path)
    assert outcome.findings == ()
    assert FLAT in outcome.checked


@pytest.mark.parametrize(
    ("kind", "counts", "leaks"),
    [
        # An executor under load: each of its threads keeps the last error that it met.
        ("objects", (240, 192, 368, 464), False),
        ("objects", (272, 240, 480, 1_408), True),
        ("threads", (12, 20, 30, 40), False),
        ("threads", (11, 14, 26, 74), True),
    ],
)
def test_a_pool_that_fills_slowly_is_no_leak(
    kind: str, counts: tuple[int, ...], leaks: bool
) -> None:
    measured = ResourceMeasurement(Puts, times=[10, 40, 160, 640], counts={kind: [*counts]})
    assert (kind in measured.leaks) is leaks


def test_the_greatest_leak_of_each_kind_is_tried_first_for_a_script() -> None:
    empty = holdings.HeldContents(*(Counter[str]() for _ in range(6)))
    slow, quick, least, files = (
        Leak(work, kind, law_of([10, 40, 160], [0, 30 * each, 150 * each], 8), empty, empty, {})
        for work, kind, each in (
            (Openings, "threads", 8),
            (Gets, "threads", 4),
            (Puts, "threads", 2),
            (Puts, "files", 1),
        )
    )
    assert likeliest([least, files, quick, slow]) == [slow, files, quick]


# Threads that stay are waited for as long as idle ones may take to end, each time.
@pytest.mark.nightly
def test_a_pool_that_fills_does_not_end_the_waiting_for_idle_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Gets, Gets])
    assert judged(here("fills-its-pool"), tmp_path).findings == ()


@pytest.mark.nightly
def test_a_script_waits_for_threads_that_end(tmp_path: Path) -> None:
    empty = holdings.HeldContents(*(Counter[str]() for _ in range(6)))
    leak = Leak(Gets, "threads", law_of([10, 40, 160], [0, 30, 150], 8), empty, empty, {})
    for name, status in (("engine-each-read", 1), ("ending-late", 0)):
        opening = opening_of(plan_for(here(name), tmp_path)[1])
        assert opening is not None
        assert ended(script(leak, "sync", opening, name), tmp_path)[0] == status


def test_nothing_is_known_of_a_saver_that_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Gets])
    outcome = judged(here("raising"), tmp_path)
    assert outcome.unknown[FLAT] == "get_tuple, repeated: RuntimeError: out of order"


@pytest.mark.parametrize("work", [Gets, Listings, Searches, LeftListings])
def test_each_request_has_texts_of_its_own(work: type[Work], tmp_path: Path) -> None:
    """What a saver keeps of them counts, as it does where users ask."""
    asked: list[Any] = []

    class Noting(SqliteReference):
        def get_tuple(self, config: Any) -> Any:
            asked.append(config)
            return super().get_tuple(config)

        def list(self, config: Any, **options: Any) -> Iterator[Any]:
            asked.append(config)
            yield from super().list(config, **options)

    with closing(Noting(tmp_path)) as saver:
        doing = work(saver)
        doing.once(1)
        doing.once(2)
    half = len(asked) // 2
    for first, second in zip(asked[:half], asked[half:], strict=True):
        assert first == second
        assert first["configurable"]["thread_id"] is not second["configurable"]["thread_id"]


def test_a_weak_reference_that_is_dead_is_no_object() -> None:
    named = [NamedLock() for _ in range(100)]
    kept = [weakref.ref(one) for one in named]
    assert sum(one in kept for one in holdings.objects() if isinstance(one, weakref.ref)) == 100
    named.clear()
    assert not any(isinstance(one, weakref.ref) and one() is None for one in holdings.objects())
    assert len(kept) == 100


def test_nothing_is_held_where_descriptors_cannot_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holdings, "_DESCRIPTORS", tmp_path / "none")
    outcome = judged(here("plain"), tmp_path)
    assert outcome.checked == {}
    assert outcome.unexercised[FLAT].startswith("this system does not tell which descriptors")


def test_work_is_left_out_where_there_is_no_time(tmp_path: Path) -> None:
    outcome = judged(here("plain"), tmp_path, budget_s=0.0)
    assert outcome.checked == {}
    assert "works that are repeated; a larger --saver-budget" in outcome.unexercised[FLAT]


def test_a_death_is_blamed_on_what_was_done(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    judged(here("plain"), tmp_path, journal=str(journal), budget_s=0.0)
    plan, saver = plan_for(here("plain"), tmp_path)
    lines = [family.json.loads(line) for line in journal.read_text().splitlines()]
    blame = ResourcesFamily().blame_of_death(plan, saver, lines)
    assert blame.contract == FLAT
    assert blame.steps == ("do many times: put, put_writes and delete_thread of a new thread",)
    # What hangs at once leaks nothing.
    assert ResourcesFamily().blame_of_death(plan, saver, lines[:1]).contract == ""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, "found 3, expected an object with work, kind, times"),
        ({"work": "Naps", "kind": "tasks", "times": [1, 2, 3]}, "work: found 'Naps', expected one"),
        ({"work": "Gets", "kind": "luck", "times": [1, 2, 3]}, "kind: found 'luck', expected one"),
        ({"work": "Gets", "kind": "tasks", "times": [1]}, "times: found [1], expected three or"),
    ],
)
def test_what_cannot_be_done_again_is_said(data: Any, said: str, tmp_path: Path) -> None:
    plan, saver = plan_for(here("plain"), tmp_path)
    with pytest.raises(ValueError, match=re.escape(said)):
        ResourcesFamily().replay(plan, saver, FLAT, data)
