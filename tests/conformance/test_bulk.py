"""What a saver takes in bulk and then does not show is lost, and a must is broken; what it
refuses is advice.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import facts_for, hunt, target_of
from tests.nights import by_night
from tests.wrong_savers import WRONG

from saverproof.families.functional.judging import LARGE

CUT = {
    "thousand-at-most": "identity/list-selects",
    "hundred-channels-at-most": "serialization/channel-values",
    "batch-cut-at-athousand": "pending-writes/complete",
}
"""Wrong savers that take what is large and show a part of it, with the contract that they break."""


@pytest.mark.parametrize(
    "name", [name if name == "hundred-channels-at-most" else by_night(name) for name in CUT]
)
def test_what_is_taken_and_not_shown_is_lost(name: str, tmp_path: Path) -> None:
    wrong = next(one for one in WRONG if one.name == name)
    plan = plan_of(
        target_of(wrong), "serialization", "sync", tmp_path, facts=facts_for(wrong, tmp_path)
    )
    outcome = hunt(plan, target_of(wrong), LARGE, steps=0)
    found = {finding.contract for finding in (*outcome.findings, *outcome.handed)}
    assert CUT[name] in found
    assert LARGE not in found
