"""Each contract is come to by written programs, even where there is no time for random ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of

from saverproof.families.functional.effort import EVERY_MAKER, ProgramEffort, ProgramMaker
from saverproof.families.functional.judging import LARGE, FunctionalJudging
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.tally import Tally
from saverproof_savers import targets

WRITTEN = EVERY_MAKER - {ProgramMaker.RANDOM, ProgramMaker.HYPOTHESIS, ProgramMaker.CROSSED}


@pytest.mark.parametrize("family", sorted(FUNCTIONAL_FAMILIES))
def test_written_programs_come_to_each_contract(family: str, tmp_path: Path) -> None:
    plan = plan_of(targets.sqlite, family, "crossed" if family == "parity" else "sync", tmp_path)
    effort = ProgramEffort(steps=0, examples=0, bulk=False, heavy=False, makers=WRITTEN)
    tally = Tally(plan)
    FunctionalJudging(plan, targets.sqlite, tally, effort).run()
    assert not tally.findings
    # Large programs take seconds; what they show is advice.
    assert tally.applicable - tally.checked.keys() <= {LARGE}
