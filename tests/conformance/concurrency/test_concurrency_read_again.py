"""Reads are held while another caller of the same saver changes what they read, and repeated.

By day what is wrong, through one API; what is right by night.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.concurrency.concurrency_support import BUNDLED, blamed, facts_of, judged, the
from tests.nights import by_night

from saverproof.families.answer import Status
from saverproof.families.concurrency.contract_ids import THREADS
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.held.held_reading import BEFORE, READS
from saverproof.families.concurrency.held.read_again import harmless
from saverproof.families.concurrency.held.reading_again import CHANGES
from saverproof.families.concurrency.held.right_moments import moments
from saverproof.families.concurrency.replaying import replay
from saverproof.families.items import ItemPlan
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

ALONE = SceneEffort(shared=1, instances=0, processes=0, races=0)
HELD = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=12)


@pytest.mark.nightly
@pytest.mark.parametrize("api", [by_night("sync"), "async"])
def test_a_saver_that_keeps_nothing_answers_with_what_is(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, HELD, only=THREADS)
    assert (blamed(outcome), dict(outcome.unknown)) == (set(), {})
    few = judged(BUNDLED, tmp_path, api, monkeypatch, ALONE, only=THREADS)
    # Three reads beside four changes: each is held somewhere, and most at several places.
    assert outcome.checked[THREADS] >= few.checked[THREADS] + 12


@pytest.mark.parametrize("how", ["given writes", "followed by another", "put again"])
def test_a_call_that_finds_places_changes_nothing_that_is_read(how: str) -> None:
    (change,) = CHANGES[how]
    call = harmless(change, BEFORE)
    assert call.kind is change.kind
    for held in READS:
        before, after = moments(held.made, BEFORE, [call])
        assert before == after
    assert len(set(moments(READS[-1].made, BEFORE, [change]))) == 2


@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_what_a_slow_read_leaves_behind_is_told_and_played_again(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.concurrent_savers:SAVERS.filled_late"
    outcome = judged(where, tmp_path, api, monkeypatch, HELD, only=THREADS)
    assert blamed(outcome) == {THREADS}
    found = the(outcome, "threads-lose-nothing")
    assert "does not show what changed while another get_tuple" in found.summary
    assert "settrace" in found.reproducer
    ref = TargetRef(
        where, "tests.conformance.concurrency.concurrent_savers", None, "SAVERS.filled_late"
    )
    target = load(ref)
    plan = ItemPlan(ref.to_json(), facts_of(target), "concurrency", api, "quick", 0, str(tmp_path))
    assert replay(plan, target, THREADS, found.program).status is Status.FAILING
