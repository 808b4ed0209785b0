"""Every deliberately wrong saver is caught, and blamed for what it does wrong.

One seed by default; ``SAVERPROOF_SEEDS=5`` (``make selftest-full``) tries five.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.selftest_support import (
    SEEDS,
    allowed,
    blamed,
    judged_by_programs,
)
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contracts
from saverproof.programs.families import FUNCTIONAL_FAMILIES


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wrong", judged_by_programs(), ids=lambda wrong: wrong.name)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver, seed: int, tmp_path: Path
) -> None:
    found = blamed(wrong, tmp_path, seed)
    assert wrong.breaks in found, f"not caught in {wrong.note}"
    assert found <= allowed(wrong), f"blamed for {sorted(found - allowed(wrong))} as well"


@pytest.mark.parametrize("family", FUNCTIONAL_FAMILIES)
def test_no_contract_is_without_a_wrong_saver(family: str) -> None:
    broken = {wrong.breaks for wrong in WRONG}
    assert {contract.id for contract in contracts(family)} <= broken
