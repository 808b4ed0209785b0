"""Every deliberately wrong saver is caught, and blamed for what it does wrong.

By day the first of each contract, by one seed; ``SAVERPROOF_SEEDS=5`` (``make selftest-full``, a
part of ``make nightly``) tries five of all, and looks for false blame of every wrong saver in every
family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.conformance.replay_support import assert_shown_until_mended, plan_for
from tests.conformance.replay_targets import ref_to
from tests.conformance.selftest_support import (
    EVERY_FAMILY,
    SEEDS,
    allowed,
    blamed,
    blamed_everywhere,
    hunt,
    hunted,
    judged_by_programs,
    replayed_by_programs,
    waiting_on_their_loop,
)
from tests.nights import through_the_day
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contracts
from saverproof.families.items import Outcome
from saverproof.families.machines.explaining.ledger import LedgerEntry
from saverproof.families.machines.explaining.prediction import Predictor, compare
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.judging.scenes import event_loop
from saverproof.judging.session import Breach
from saverproof.programs.trait import Trait
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.loading import load
from saverproof.scripts import verification

PROVED_AGAIN = 5
"""Runs of each wrong saver whose proofs are made again: the shortest."""
BY_DAY = 1
"""Wrong savers of each contract that are tried by day."""
LARGE_BY_NIGHT = {
    "values-cut-at-sixteen-megabytes",
    "runs-in-hundred-namespaces",
    "hundred-threads-listed",
    "hundred-namespaces-pruned",
    "batch-cut-at-athousand",
    "stops-at-athin-page",
    "thousand-at-most",
    "hundred-writes-copied",
}
"""Wrong savers that only a hundred times as much as usual shows, each in ten to twenty seconds. By
day, the deletion of a hundred namespaces is one of them, and other tests have some of the rest.
"""
WAITING_BY_NIGHT = {
    "get-waits-for-its-own-loop",
    "put-waits-for-its-own-loop",
    "delete-waits-for-its-own-loop",
    "put-writes-waits-for-its-own-loop",
}
"""The same scene finds all that wait for their own loop: by day, one of them."""
MET_BY_ALL = {"no-first-version"}
"""Wrong savers whose mistake programs of every family meet; all the others have their night."""


@dataclass
class Followed:
    """The search of a test, and the runs that it followed up: what they show is all there is."""

    runs: list[ProgramRun] = field(default_factory=list)
    search: ProgramSearch | None = None


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Followed:
    """What is followed up in a test."""
    followed = Followed()
    follow_up = ProgramSearch.follow_up

    def watched(search: ProgramSearch, run: ProgramRun) -> None:
        followed.search = search
        followed.runs.append(run)
        follow_up(search, run)

    monkeypatch.setattr(ProgramSearch, "follow_up", watched)
    return followed


REPLAYED = {wrong.name for wrong in replayed_by_programs()}


def parameters(
    savers: Iterable[WrongSaver], at_night: Collection[str] = ()
) -> list[pytest.ParameterSet]:
    """Return wrong savers as parameters of a test, some of them left to the night."""
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.nightly] * (one.name in at_night))
        for one in savers
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wrong", through_the_day(judged_by_programs(), BY_DAY, LARGE_BY_NIGHT))
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver,
    seed: int,
    followed: Followed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if seed > 0 or wrong.name not in REPLAYED:
        outcome = hunted(wrong, tmp_path, seed)
        assert_rightly_blamed(wrong, outcome)
        assert_all_accounted_for(outcome, followed.runs)
        assert_proved_again(followed, tmp_path)
        return
    # A process for each script would take minutes; the tests of scripts have them.
    monkeypatch.setattr(verification, "complains_alone", lambda text, promise: True)
    plan = plan_for(wrong, tmp_path)
    outcome = hunt(plan, load(ref_to(wrong.name)), wrong.breaks, heavy=wrong.heavy)
    assert_rightly_blamed(wrong, outcome)
    assert_all_accounted_for(outcome, followed.runs)
    assert_proved_again(followed, tmp_path)
    # To find it once more for a test of its own would cost as much as the rest of the self-test.
    found = next(one for one in outcome.findings if one.contract == wrong.breaks)
    assert_shown_until_mended(wrong, plan, found, tmp_path)


def assert_proved_again(followed: Followed, folder: Path) -> None:
    """What is proved to follow from what was found is so once more, by the proof of each."""
    search = followed.search
    if search is None:
        return
    with loop_for(search.trials.apis[0] if len(search.trials.apis) == 1 else "crossed") as loop:
        search.trials.loop = loop
        folder.mkdir(exist_ok=True)
        settled = [entry for entry in search.ledger.entries if not entry.left]
        for entry in sorted(settled, key=lambda entry: len(entry.run.program))[:PROVED_AGAIN]:
            assert not unproved(search, entry)


def unproved(search: ProgramSearch, entry: LedgerEntry) -> list[Breach]:
    """What an entry shows that no finding tells, no mistake predicts, and nothing takes out."""
    known = search.diagnosis
    predictor = known.predictor
    again = Predictor(
        search.trials, next_version=predictor.next_version, prune_whole=predictor.prune_whole
    )
    prediction = again.predict(entry.run, known.mistakes) if known.mistakes else None
    told = set(map(id, entry.told))
    compared = compare(entry.run, prediction).left
    left = [b for b in compared if id(b) not in told and not search.is_shown(entry.run, b)]
    needs = [need for each in (*search.violations, *search.others) for need in each.needs]
    return [
        breach for breach in left if not any(_takes_out(search, entry, breach, n) for n in needs)
    ]


def _takes_out(search: ProgramSearch, entry: LedgerEntry, breach: Breach, need: Trait) -> bool:
    program = need.without(entry.run.program)
    if need.whole_step or program == entry.run.program:
        return False
    shown = search.trials.replay(program, thorough=False, watch_inputs=entry.run.watch_inputs)
    return all(other.contract != breach.contract for other in shown.breaches)


def assert_rightly_blamed(wrong: WrongSaver, outcome: Outcome) -> None:
    found = blamed(outcome)
    assert wrong.breaks in found, f"not caught: {wrong.note}"
    assert found <= allowed(wrong), f"blamed for {sorted(found - allowed(wrong))} as well"


def assert_all_accounted_for(outcome: Outcome, runs: list[ProgramRun]) -> None:
    """Every difference that was seen is shown, explained, unknown, or of another family."""
    differences = outcome.extra["differences"]
    went = differences["shown"] + differences["explained"] + differences["unknown"]
    assert differences["seen"] == went
    # Signatures are judged without a program.
    shown = (breach.difference.times for run in runs for breach in run.breaches)
    seen = sum(shown) or len(outcome.findings)
    elsewhere = sum(left["times"] for left in differences["elsewhere"])
    # A finding may be shown by the program of a known mistake, which is no run of the search.
    least = max(seen, differences["shown"] + elsewhere)
    # What is masked counts where nothing predicts it.
    masked = sum(breach.difference.times for run in runs for breach in run.masked)
    assert least <= differences["seen"] + elsewhere <= least + masked
    assert differences["shown"] == len(outcome.findings)


@pytest.mark.parametrize("wrong", parameters(waiting_on_their_loop(), WAITING_BY_NIGHT))
def test_a_saver_that_waits_for_its_own_loop_is_caught(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop, "PATIENCE_S", 0.5)
    assert_rightly_blamed(wrong, hunted(wrong, tmp_path, seed=0))


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
