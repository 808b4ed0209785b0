"""Axes: programs cross them two by two, what steps touch is counted, and gaps are told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import EVERY_FAMILY

from saverproof.capability import Capability
from saverproof.contracts.registry import contract
from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.tally import Tally
from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Touched
from saverproof.programs.axes.covering import rows
from saverproof.programs.axes.crossing import NO_ROOM, NOT_REACHED, AxisAccount, crossing
from saverproof.programs.axes.log import AxisLog, pairs_of
from saverproof.programs.axes.table import CROSSED, READER, why_apart
from saverproof.programs.axes.touching import touched_by
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import ListTuples, Program, Put, PutWrites
from saverproof.programs.values import Value
from saverproof_savers import targets

ABLE = frozenset({*Capability, table.DURABLE, table.OWN_STORE})
EVERY = sorted({*CROSSED} & {*FUNCTIONAL_FAMILIES})
families = pytest.mark.parametrize("family", EVERY)


def touched(program: Program) -> Counter[Touched]:
    """What a program touches whose steps are all taken."""
    model, points = Model(), Counter[Touched]()
    for step in program:
        assert objection(step, model) is None, step
        points.update(touched_by(step, model))
        model.apply(step)
    return points


@families
def test_any_two_points_come_together_in_a_program(family: str) -> None:
    log = AxisLog()
    for program in crossing(family, ABLE, heavy=True):
        log.add(touched(program), CROSSED[family])
    # By whom something is read is known where it is read.
    wanted = {
        pair
        for pair, apart in pairs_of(family, ABLE, heavy=True)
        if apart is None and READER.name not in dict(pair)
    }
    assert wanted <= log.pairs
    assert len(wanted) > 50


@families
def test_no_row_has_what_is_kept_apart_and_none_takes_seconds(family: str) -> None:
    for row in rows(family, ABLE):
        points = list(row.items())
        assert all(why_apart(one, other) is None for one in points for other in points)
        assert not table.HEAVY.intersection(points)


@families
def test_the_rows_are_the_same_always(family: str) -> None:
    assert rows(family, ABLE) == rows(family, ABLE)


def test_axes_speak_to_contracts_that_there_are() -> None:
    assert all(contract(name) for axis in table.AXES for name in axis.contracts)
    assert len({axis.name for axis in table.AXES}) == len(table.AXES)


@pytest.mark.parametrize(
    ("point", "program"),
    [
        (table.PARENT.at("one with a higher id"), (Put("a", "", 9), Put("a", "", 2, 9))),
        (table.PARENT.at("an older one"), (Put("a", "", 1), Put("a", "", 2), Put("a", "", 3, 1))),
        (table.TIMES.at("reversed"), (Put("a", "", 1, clock=9), Put("a", "", 2, 1, clock=5))),
        (table.TIMES.at("equal times"), (Put("a", "", 1), Put("a", "", 2, clock=1))),
        (table.MOMENT.at("before its checkpoint"), (PutWrites("a", "", 1, 1, ()),)),
        (table.BATCH.at("0"), (PutWrites("a", "", 1, 1, ()),)),
        (table.VALUE.at("empty"), (Put("a", "", 1, changes=(("c", Value("text", "")),)),)),
        (table.LIMIT.at("exact"), (Put("a", "", 1), Put("a", "", 2), ListTuples("a", limit=2))),
        (table.LIMIT.at("more"), (Put("a", "", 1), ListTuples("a", limit=2))),
        (table.THREAD_TEXT.at("path steps"), (Put("../a", "", 1),)),
        (table.STORED_ALIKE.at("'1'"), (Put("a", "", 1, metadata={"user": "1"}),)),
    ],
)
def test_a_step_touches_what_it_has(point: Touched, program: Program) -> None:
    assert point in touched(program)
    assert point not in touched((Put("a", "", 1, changes=(("c", Value("integer", 1)),)),))


def test_what_was_not_touched_is_told_with_the_contracts_that_speak_of_it() -> None:
    account = AxisAccount("ordering", ABLE, False, AxisLog())
    assert ("limit", "exact", NOT_REACHED) in {(a.name, p, w) for a, p, w in account.untouched()}
    assert "limit: exact" in account.gaps()["ordering/limit-is-a-prefix"]
    assert not any("1,100" in gap for gap in account.gaps().values())
    left_out = {"family": "ordering", "axis": table.LENGTH.name, "point": "1,100", "why": NO_ROOM}
    assert left_out in account.as_data()["untouched"]


def test_a_saver_without_a_capability_has_no_such_point() -> None:
    account = AxisAccount("deletion", ABLE - {Capability.PRUNE}, True, AxisLog())
    points = {p for a, p, _ in account.untouched() if a is table.REMOVAL}
    assert points == {"delete_thread", "delete_for_runs", "copy_thread"}
    assert list(crossing("delta-history", ABLE - {Capability.DELTA_HISTORY}, heavy=True)) == []


@families
def test_programs_are_legal_for_a_saver_that_lacks_capabilities(family: str) -> None:
    removals = {
        *(Capability.DELETE_THREAD, Capability.DELETE_FOR_RUNS),
        *(Capability.PRUNE, Capability.COPY_THREAD),
    }
    for lacking in (*({one} for one in Capability), removals, {*Capability}):
        for program in crossing(family, ABLE - lacking, heavy=False):
            assert touched(program)


@pytest.mark.parametrize("family", EVERY if EVERY_FAMILY else ["upsert", "filter"])
def test_a_run_without_dice_touches_everything(family: str, tmp_path: Path) -> None:
    api = "crossed" if family == "parity" else "sync"
    tally = Tally(plan_of(targets.sqlite, family, api, tmp_path))
    effort = ProgramEffort(steps=0, examples=0, bulk=False, heavy=False)
    FunctionalJudging(tally.plan, targets.sqlite, tally, effort).run()
    outcome = tally.outcome()
    axes = outcome.extra["axes"]
    assert [one for one in axes["untouched"] if one["why"] != NO_ROOM] == []
    assert axes["pairs"]["missing"] == []
    assert axes["pairs"]["covered"] == axes["pairs"]["of"] > 50
    assert outcome.unexercised == {}
