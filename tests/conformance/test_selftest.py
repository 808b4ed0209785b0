"""Every deliberately wrong saver is caught, and blamed for what it does wrong.

One seed by default; ``SAVERPROOF_SEEDS=5`` (``make selftest-full``, a part of ``make nightly``)
tries five, and looks for false blame of every wrong saver in every family.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.selftest_support import (
    EVERY_FAMILY,
    SEEDS,
    allowed,
    blamed,
    blamed_everywhere,
    hunted,
    judged_by_programs,
    waiting_on_their_loop,
)
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contracts
from saverproof.families.functional.search import Search
from saverproof.families.functional.trials import Run
from saverproof.judging import parity
from saverproof.programs.themes import FUNCTIONAL_FAMILIES

MET_BY_ALL = {"no-first-version"}
"""Wrong savers whose mistake programs of every family meet; all the others have their night."""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that are followed up in a test: what they show is all that is seen."""
    followed: list[Run] = []
    follow_up = Search.follow_up

    def watched(search: Search, run: Run) -> None:
        followed.append(run)
        follow_up(search, run)

    monkeypatch.setattr(Search, "follow_up", watched)
    return followed


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wrong", judged_by_programs(), ids=lambda wrong: wrong.name)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver, seed: int, tmp_path: Path, runs: list[Run]
) -> None:
    outcome = hunted(wrong, tmp_path, seed)
    found = {finding.contract for finding in outcome.findings}
    assert wrong.breaks in found, f"not caught: {wrong.note}"
    assert found <= allowed(wrong), f"blamed for {sorted(found - allowed(wrong))} as well"
    differences = outcome.extra["differences"]
    went = differences["shown"] + differences["explained"] + differences["unknown"]
    assert differences["seen"] == went
    # Signatures are judged without a program.
    seen = sum(len(run.breaches) for run in runs) or len(outcome.findings)
    assert differences["seen"] + sum(differences["elsewhere"].values()) == seen
    assert differences["shown"] == len(outcome.findings)


@pytest.mark.parametrize("wrong", waiting_on_their_loop(), ids=lambda wrong: wrong.name)
def test_a_saver_that_waits_for_its_own_loop_is_caught(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parity, "PATIENCE_S", 0.5)
    found = blamed(wrong, tmp_path, seed=0)
    assert wrong.breaks in found
    assert found <= allowed(wrong)


@pytest.mark.parametrize(
    "wrong",
    [wrong for wrong in judged_by_programs() if EVERY_FAMILY or wrong.name in MET_BY_ALL],
    ids=lambda wrong: wrong.name,
)
def test_a_wrong_saver_is_blamed_for_nothing_in_other_families(
    wrong: WrongSaver, tmp_path: Path
) -> None:
    found = blamed_everywhere(wrong, tmp_path)
    assert found <= allowed(wrong), f"blamed for {sorted(found - allowed(wrong))} as well"


@pytest.mark.parametrize("family", FUNCTIONAL_FAMILIES)
def test_no_contract_is_without_a_wrong_saver(family: str) -> None:
    broken = {wrong.breaks for wrong in WRONG}
    assert {contract.id for contract in contracts(family)} <= broken
