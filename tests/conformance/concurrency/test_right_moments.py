"""What a right saver shows of a checkpoint that is changed; to show that late is no mixture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.concurrency.callers.records import Operation, ShownTuple, TimedCall
from saverproof.families.concurrency.callers.workload import Able
from saverproof.families.concurrency.contract_ids import INSTANCES, THREADS, TORN
from saverproof.families.concurrency.held import held_reading, reading_again
from saverproof.families.concurrency.held.held_reading import BEFORE, CHANGES, READS
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.held.reading_again import CHANGES as CHANGES_HERE
from saverproof.families.concurrency.held.right_moments import Shown, moments
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.programs.steps.codec import encode
from saverproof_faults.kill import DiedBy

BY_ID, LATEST, LIST = (one.made for one in READS)
FIRST = "checkpoint 1 (p1000; task 100: w1001.0 w1001.1 w1001.2)"
AGAIN = "checkpoint 1 (p1002; task 100: w1001.0 w1001.1 w1001.2)"
GIVEN = "checkpoint 1 (p1000; task 100: w1001.0 w1001.1 w1001.2; task 101: w1003.0 w1003.1)"
NEXT = "checkpoint 2 (p1004)"


@pytest.mark.parametrize(
    ("read", "change", "shown"),
    [
        (BY_ID, CHANGES["put again"], [FIRST, AGAIN]),
        (LATEST, CHANGES["deleted"], [FIRST, "nothing"]),
        (LIST, CHANGES["deleted, and put anew"], [FIRST, "nothing", "checkpoint 1 (p1002)"]),
        (BY_ID, CHANGES_HERE["given writes"], [FIRST, GIVEN]),
        (BY_ID, CHANGES_HERE["followed by another"], [FIRST, FIRST]),
        (LATEST, CHANGES_HERE["followed by another"], [FIRST, NEXT]),
        (LIST, CHANGES_HERE["followed by another"], [FIRST, f"{NEXT}, {FIRST}"]),
    ],
)
def test_each_call_of_a_change_makes_a_moment(
    read: Operation, change: tuple[Operation, ...], shown: list[str]
) -> None:
    assert [held_reading.in_words(one) for one in moments(read, BEFORE, change)] == shown


OVER = {"standstill": None, "trouble": ""}


class Played:
    """A bench on which a read was shown these states alone, and one while it was held."""

    def __init__(
        self, folder: Path, read: Operation, alone: list[Shown], held: list[Shown]
    ) -> None:
        events = [[_read(read, shown) for shown in group] for group in (alone, held)]
        told = {
            "alone": encode(events[0]),
            "held": [[encode(HoldPoint("saver.py", 7)), encode(events[1])]],
            "left": 0,
            "shut": [],
        }
        self.folder = folder
        self.value = {"places": 1, "free": [], "shut": [], "each": [told]} | OVER

    @contextmanager
    def store(self) -> Iterator[dict[str, Any]]:
        yield {}

    def played(self, *_: Any) -> Any:
        return SimpleNamespace(died_by=DiedBy.FINISHED, value=self.value)

    def writers(self, parts: list[Any]) -> list[Any]:
        return [self.played() for _ in parts]


def _read(read: Operation, shown: Shown) -> TimedCall:
    return TimedCall(0, read, 0, 1, shown=shown)


def _record() -> SceneRecord:
    plan = ItemPlan({}, facts_from(EVERY_OPERATION), "concurrency", "sync", "quick", 0, "")
    return SceneRecord(Tally(plan))


OLD, NEW = moments(LATEST, BEFORE, CHANGES["put again"])
MIXED: Shown = (ShownTuple(1, ("p1002", "p1000", "p1000")),)


@pytest.mark.parametrize(
    ("seen", "later", "accused"),
    [
        (OLD, NEW, set()),
        (NEW, NEW, set()),
        (MIXED, NEW, {TORN}),
        (OLD, OLD, {INSTANCES}),
        (MIXED, MIXED, {TORN, INSTANCES}),
    ],
)
def test_what_is_shown_late_is_no_mixture(
    seen: Shown, later: Shown, accused: set[str], tmp_path: Path
) -> None:
    bench: Any = Played(tmp_path, LATEST, [NEW, NEW], [seen, later])
    record = _record()
    data = {"read": LATEST.kind, "change": "put again"}
    held_reading.again(bench, Able(), data, record, 1)
    assert record.found.keys() == accused


@pytest.mark.parametrize(
    ("alone", "seen", "later", "accused"),
    [
        # One caller alone was shown the change late.
        ((NEW, OLD), OLD, NEW, set()),
        ((OLD, NEW), OLD, OLD, {THREADS}),
        ((OLD, NEW), MIXED, NEW, {TORN}),
    ],
)
def test_what_is_right_at_last_has_left_nothing_behind(
    alone: tuple[Shown, Shown], seen: Shown, later: Shown, accused: set[str], tmp_path: Path
) -> None:
    bench: Any = Played(tmp_path, LATEST, [*alone], [seen, later])
    record = _record()
    data = {"read": LATEST.kind, "change": "put again"}
    reading_again.again(bench, Able(), data, record, 1)
    assert record.found.keys() == accused


@pytest.mark.parametrize("answered", [1, 0])
def test_a_read_that_is_never_answered_beside_a_change_breaks_a_contract(
    answered: int, tmp_path: Path
) -> None:
    bench: Any = Played(tmp_path, LATEST, [], [])
    stuck = {"hung": True, "seconds": 4.0, "stacks": "thread reader"}
    bench.value |= {"each": [], "standstill": stuck, "answered_alone": answered}
    record = _record()
    data = {"read": LATEST.kind, "change": "deleted with its run"}
    reading_again.again(bench, Able(), data, record, 1)
    if not answered:
        # It hangs with one caller alone, too: that is for other families to tell.
        assert not record.found
        assert THREADS in record.tally.unknown
        return
    (found,) = record.found.values()
    assert (found.problem.contract, found.problem.stacks) == (THREADS, "thread reader")
    assert "deleted with its run meanwhile is never answered" in found.problem.summary
    assert found.scene == {"scene": "read again", **data}
