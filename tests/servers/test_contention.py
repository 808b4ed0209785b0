"""What the server makes of callers that meet in it: deadlocks, and reads that grow old."""

from __future__ import annotations

from pathlib import Path

import pytest

from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.contract_ids import THREADS
from saverproof.families.concurrency.effort import SceneEffort
from tests.conformance.concurrency.concurrency_support import blamed, judged
from tests.nights import by_night
from tests.servers import contending_savers

pytestmark = pytest.mark.usefixtures("postgres")

FEW = SceneEffort(shared=3, instances=0, processes=0, races=0)
UNTIL_CAUGHT = SceneEffort(shared=240, instances=0, processes=0, races=0)


@pytest.mark.parametrize(
    ("saver", "found"),
    [
        ("retrying", set()),
        ("swallowing", {THREADS}),
        # Two callers have to meet within a millisecond: that takes a minute as often as not.
        by_night("writing_anew", {THREADS}),
    ],
)
def test_only_what_is_lost_between_callers_is_blamed(
    saver: str, found: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *_: "")
    where = f"{contending_savers.__name__}:{saver}"
    effort = UNTIL_CAUGHT if found else FEW
    outcome = judged(where, tmp_path, "sync", monkeypatch, effort, only=THREADS)
    assert blamed(outcome) == found
    assert outcome.checked[THREADS] > 0
