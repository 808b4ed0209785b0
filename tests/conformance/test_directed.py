"""Finite sets are enumerated: what confuses names, values or arguments is caught without dice.

By day every fourth of what is confused; the others by night.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import allowed, family_of
from tests.nights import by_night
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.tables import serialization
from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.items import Outcome
from saverproof.families.machines.registry import MACHINES
from saverproof.families.tally import Tally
from saverproof.mistakes import what_is_alike, what_is_asked, what_is_left
from saverproof.programs import names
from saverproof.programs.rewriting.renaming import threads
from saverproof.savers.targets.target import Target
from saverproof_savers import targets

NO_DICE = ProgramEffort(steps=0, examples=0, bulk=False, heavy=False)
CONFUSED = {"isolation/hostile-identifiers", "isolation/hostile-filter-keys"}
SLOW_BY_NIGHT = {"hundred-writes-at-most"}
ENUMERATED = {what_is_alike.__name__, what_is_asked.__name__, what_is_left.__name__}


def judged(
    saver: Target,
    family: str,
    folder: Path,
    until: frozenset[str] = frozenset(),
    effort: ProgramEffort = NO_DICE,
) -> Outcome:
    tally = Tally(plan_of(saver, family, "sync", folder))
    FunctionalJudging(tally.plan, saver, tally, effort, until=until).run()
    return tally.outcome()


def every_fourth(savers: Iterable[WrongSaver]) -> list[pytest.ParameterSet]:
    """Return savers as parameters, all but every fourth one left to the night.

    They differ in which of the enumerated names they confuse.
    """
    return [
        by_night(wrong, id=wrong.name)
        if number % 4 or wrong.name in SLOW_BY_NIGHT
        else pytest.param(wrong, id=wrong.name)
        for number, wrong in enumerate(savers)
    ]


@pytest.mark.parametrize(
    "wrong",
    every_fourth(w for w in WRONG if w.breaks in CONFUSED or w.saver.__module__ in ENUMERATED),
)
def test_what_is_enumerated_is_found_without_dice(wrong: WrongSaver, tmp_path: Path) -> None:
    saver = Target(name=wrong.name, open=wrong.make, drop=wrong.drop, durable=False)
    outcome = judged(saver, family_of(wrong), tmp_path, until=frozenset({wrong.breaks}))
    found = {finding.contract for finding in outcome.findings}
    assert wrong.breaks in found
    assert found <= allowed(wrong)


def test_every_hostile_id_is_written_and_deleted() -> None:
    programs = MACHINES["isolation"].examples
    named = {name for program in programs for step in program for name in threads(step)}
    assert named >= {name for one in names.HOSTILE for name in one.threads}


@pytest.mark.parametrize(
    ("saver", "family"),
    [
        (targets.sqlite, "isolation"),
        by_night(targets.memory, "isolation"),
        by_night(targets.sqlite, "serialization"),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_right_savers_confuse_nothing(saver: Target, family: str, tmp_path: Path) -> None:
    outcome = judged(saver, family, tmp_path)
    assert outcome.findings == ()
    assert outcome.unknown == {}


@pytest.mark.nightly
def test_many_writes_in_another_order_are_all_there(tmp_path: Path) -> None:
    (wrong,) = (wrong for wrong in WRONG if wrong.name == "write-index-as-text")
    saver = Target(name=wrong.name, open=wrong.make, durable=False)
    effort = replace(NO_DICE, bulk=True)
    outcome = judged(saver, "serialization", tmp_path, effort=effort)
    assert outcome.checked[serialization.LARGE.id]
    assert outcome.findings == ()
