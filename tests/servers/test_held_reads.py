"""Reads of a server are held between statements while another saver changes what they read.

By day wrong savers; a right one by night.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from saverproof.families.answer import Status
from saverproof.families.concurrency.contract_ids import TORN
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.held import held_reading
from saverproof.families.concurrency.held.held_reading import READS, HeldAt
from saverproof.families.concurrency.replaying import replay
from saverproof.families.items import ItemPlan
from tests.conformance.concurrency.concurrency_support import blamed, facts_of, judged
from tests.nights import by_night
from tests.servers import postgres_savers

pytestmark = pytest.mark.usefixtures("postgres")

HELD = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=40)

ALONE = SceneEffort(shared=1, instances=0, processes=0, races=0)


def called(saver: str) -> str:
    return f"{postgres_savers.__name__}:{saver}"


@pytest.mark.parametrize(
    "saver",
    ["reads_two_moments", by_night("reads_committed"), by_night("reads_writes_first")],
)
def test_two_statements_that_see_two_moments_are_told(
    saver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(called(saver), tmp_path, "sync", monkeypatch, HELD, only=TORN)
    assert blamed(outcome) == {TORN}
    (finding,) = outcome.findings
    assert "postgres_savers.py" in finding.summary or "sqlite.py" in finding.summary
    target = getattr(postgres_savers, saver)
    ref = {**target.ref.to_json()}
    plan = ItemPlan(ref, facts_of(target), "concurrency", "sync", "quick", 0, str(tmp_path))
    again = replay(plan, target, TORN, finding.program)
    assert again.status is Status.FAILING


@pytest.mark.nightly
def test_one_moment_is_whole_wherever_a_read_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(called("right"), tmp_path, "sync", monkeypatch, HELD, only=TORN)
    assert (blamed(outcome), dict(outcome.unknown)) == (set(), {})
    few = judged(called("right"), tmp_path, "sync", monkeypatch, ALONE, only=TORN)
    assert outcome.checked[TORN] > few.checked[TORN] + 60


def test_what_no_read_could_be_held_for_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "list: no line of the saver is part of it"
    nowhere = HeldAt(READS[0], [], [])
    monkeypatch.setattr(held_reading, "hold", lambda *_: ([why], nowhere))
    outcome = judged(called("right"), tmp_path, "sync", monkeypatch, HELD, only=TORN)
    assert TORN not in outcome.checked
    assert outcome.unknown[TORN].endswith(why)
