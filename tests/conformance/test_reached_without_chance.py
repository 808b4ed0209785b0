"""Written programs reach each contract, even where there is no time for random ones.

By day in most families; the others by night.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of
from tests.nights import by_night

from saverproof.families.functional.effort import EVERY_MAKER, ProgramEffort, ProgramMaker
from saverproof.families.functional.judging import LARGE, FunctionalJudging
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.tally import Tally
from saverproof_savers import targets

WRITTEN = EVERY_MAKER - {ProgramMaker.RANDOM, ProgramMaker.HYPOTHESIS, ProgramMaker.CROSSED}


def judged(
    family: str, folder: Path, *, steps: int, budget_s: float | None = None
) -> tuple[FunctionalJudging, Tally]:
    """The judging of a right saver by written programs, and by random ones of so many steps."""
    plan = plan_of(targets.sqlite, family, "crossed" if family == "parity" else "sync", folder)
    plan = replace(plan, budget_s=budget_s)
    makers = WRITTEN | ({ProgramMaker.RANDOM} if steps else frozenset())
    effort = ProgramEffort(steps, examples=0, bulk=False, heavy=False, makers=makers)
    tally = Tally(plan)
    judging = FunctionalJudging(plan, targets.sqlite, tally, effort)
    judging.run()
    assert not tally.findings
    return judging, tally


@pytest.mark.parametrize("family", sorted(FUNCTIONAL_FAMILIES))
def test_written_programs_reach_each_contract(family: str, tmp_path: Path) -> None:
    _, tally = judged(family, tmp_path, steps=0)
    # Large programs take seconds; what they show is advice.
    assert tally.applicable - tally.checked.keys() <= {LARGE}


SLOW_BY_NIGHT = {"deletion", "isolation", "lifecycle"}
"""Families in which a few programs take seconds: by day, all that are written reach theirs."""


@pytest.mark.parametrize(
    "family",
    [by_night(one) if one in SLOW_BY_NIGHT else one for one in sorted(FUNCTIONAL_FAMILIES)],
)
def test_without_any_time_a_few_reach_each_contract(family: str, tmp_path: Path) -> None:
    few, tally = judged(family, tmp_path, steps=0, budget_s=0.0)
    assert tally.applicable - tally.checked.keys() <= {LARGE}
    left_out = tally.budget.left_out.get("programs of known mistakes", (0, 0))
    assert left_out[0] in (0, len(few.tried))
    assert len(few.tried) <= 3 * len({mistake.breaks for mistake, _ in few.tried})


def test_mistakes_are_left_out_where_other_programs_were(tmp_path: Path) -> None:
    assert judged("upsert", tmp_path, steps=0)[0].tried
    assert not judged("upsert", tmp_path, steps=600)[0].tried
