"""A cost that grows is found in every wrong saver, blamed rightly, and shown.

By day one of each contract, and of each witness; the others by night.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.cost.cost_savers import WRONG_COSTS, here
from tests.conformance.cost.cost_support import (
    ALL,
    CALLERS,
    blamed,
    judged,
    plan_for,
    the,
    without_script,
)
from tests.conformance.selftest_support import EVERY_FAMILY, allowed
from tests.nights import by_night, first_of_each
from tests.wrong_savers import WrongSaver

from saverproof.families.answer import Status
from saverproof.families.cost import reporting
from saverproof.families.cost.family import CostFamily
from saverproof.families.items import Finding

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")


SHOW_ONE_WITNESS_EACH = {
    "scan-in-the-engine",
    "byte-by-byte",
    "query-for-each-checkpoint",
    "values-read-to-filter",
    "unchanged-channels-again",
    "runs-without-index",
    "values-stay-after-prune",
    "one-lock-over-the-pool",
}


BY_DAY = {*SHOW_ONE_WITNESS_EACH, "put-again-is-counted-again", "copies-count-twice"} | {
    wrong.name for wrong in first_of_each(WRONG_COSTS, lambda wrong: wrong.breaks, 1)
}


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(one, id=one.name) if one.name in BY_DAY else by_night(one, id=one.name)
        for one in WRONG_COSTS
    ],
)
def test_a_cost_that_grows_is_found(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = EVERY_FAMILY or wrong.name in SHOW_ONE_WITNESS_EACH
    if not shown:
        monkeypatch.setattr(reporting, "reproducer", without_script)
    outcome = judged(here(wrong.name), tmp_path, only=ALL if EVERY_FAMILY else {wrong.breaks})
    assert wrong.breaks in blamed(outcome)
    assert blamed(outcome) <= allowed(wrong)
    assert outcome.unknown == {}
    if shown:
        assert_shown_by_a_script_and_by_replaying(the(outcome, wrong.breaks), wrong, tmp_path)


def assert_shown_by_a_script_and_by_replaying(
    found: Finding, wrong: WrongSaver, folder: Path
) -> None:
    # There is none that has not ended with 1 in a process of its own.
    assert found.reproducer
    right = "pooled" if wrong.breaks == CALLERS else "paged"
    for name, status in ((wrong.name, Status.FAILING), (right, Status.FIXED)):
        plan, saver = plan_for(here(name), folder / name)
        answer = CostFamily().replay(plan, saver, wrong.breaks, found.program)
        assert answer.status is status, answer.said


def test_each_contract_has_a_wrong_saver() -> None:
    assert {wrong.breaks for wrong in WRONG_COSTS} == ALL
