"""What one caller alone is shown as well is no matter of concurrency.

By day one of them; the others by night.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.concurrency.concurrency_support import blamed, judged
from tests.conformance.concurrency.test_concurrency_selftest import FOR
from tests.nights import by_night

from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.contract_ids import (
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import SceneEffort

NOTHING_MORE = SceneEffort(shared=12, instances=1, processes=1, races=0)
"""For savers that many callers show no more of than one does: every history is played."""


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("name", "found", "behind"),
    [
        ("forgetful", set(), "pending-writes/complete"),
        by_night("torn", {THREADS}, "pending-writes/complete"),
        by_night("repeating", set(), "identity/list-selects"),
        by_night("repeating_and_losing", {THREADS}, "identity/list-selects"),
        by_night("cut_short", set(), "upsert/regular-write-first-wins"),
    ],
)
def test_a_saver_that_is_wrong_with_one_caller_too_is_judged_by_what_is_wrong_with_many(
    name: str, found: set[str], behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = f"tests.conformance.concurrency.alone_wrong_savers:{name}"
    effort = FOR["threads-lose-nothing"] if found else NOTHING_MORE
    outcome = judged(where, tmp_path, "sync", monkeypatch, effort)
    # What many callers show may also be, by chance, what follows from lost work.
    assert found <= blamed(outcome) <= found | ({TORN, ORDER, PROCESSES} if found else set())
    assert {one.contract for one in outcome.handed} == {behind}
    hidden = [why for why in outcome.unexercised.values() if "one caller alone" in why]
    assert hidden or found
    assert all(f"{behind} stands in the way" in why for why in hidden)
    assert outcome.unsettled == {}
