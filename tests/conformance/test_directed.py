"""Finite sets are enumerated: what confuses names is caught without any dice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.tally import Tally
from saverproof.items import Outcome
from saverproof.machines.registry import MACHINES
from saverproof.programs import names
from saverproof.programs.renaming import threads
from saverproof.targets.target import Target
from saverproof_savers import targets

NO_DICE = ProgramEffort(steps=0, examples=0, bulk=False, heavy=False)
CONFUSED = {"isolation/hostile-identifiers", "isolation/hostile-filter-keys"}


def judged(saver: Target, family: str, folder: Path) -> Outcome:
    tally = Tally(plan_of(saver, family, "sync", folder))
    FunctionalJudging(tally.plan, saver, tally, NO_DICE).run()
    return tally.outcome()


@pytest.mark.parametrize(
    "wrong",
    [wrong for wrong in WRONG if wrong.breaks in CONFUSED],
    ids=lambda wrong: wrong.name,
)
def test_names_that_are_confused_are_found_without_dice(wrong: WrongSaver, tmp_path: Path) -> None:
    saver = Target(name=wrong.name, open=wrong.make, drop=wrong.drop, durable=False)
    outcome = judged(saver, "isolation", tmp_path)
    assert wrong.breaks in {found.contract for found in outcome.findings}


def test_every_hostile_id_is_written_and_deleted() -> None:
    programs = MACHINES["isolation"].examples
    named = {name for program in programs for step in program for name in threads(step)}
    assert named >= {name for one in names.HOSTILE for name in one.threads}


@pytest.mark.parametrize(
    ("saver", "family"),
    [
        (targets.sqlite, "isolation"),
        (targets.memory, "isolation"),
        (targets.sqlite, "serialization"),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_right_savers_confuse_nothing(saver: Target, family: str, tmp_path: Path) -> None:
    outcome = judged(saver, family, tmp_path)
    assert outcome.findings == ()
    assert outcome.unknown == {}
