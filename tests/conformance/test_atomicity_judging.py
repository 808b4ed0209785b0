"""What a call of a random program shows, judged beside what should be seen."""

import pytest

from saverproof.families.atomicity.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.random_judging import (
    Expected,
    judged_under_fault,
    judged_without_fault,
)
from saverproof.savers.execution.view import Snapshot

EARLIER, BEFORE, AFTER, OTHER = (
    Snapshot(among_all=frozenset({("a", "", str(number))})) for number in range(4)
)
EXPECTED = Expected(BEFORE, AFTER, (EARLIER,))
RETURNED = TrialObservation(fired=True)
RAISED = TrialObservation(fired=True, ending=OperationEnding.RAISED)


@pytest.mark.parametrize(
    ("ended", "seen", "contract"),
    [
        (RETURNED, AFTER, None),
        (RETURNED, BEFORE, "atomicity/no-silent-loss"),
        (RAISED, BEFORE, None),
        (RAISED, AFTER, None),
        (RAISED, OTHER, "atomicity/all-or-nothing"),
        (RAISED, EARLIER, "atomicity/no-silent-loss"),
    ],
)
def test_a_call_that_meets_its_fault(
    ended: TrialObservation, seen: Snapshot, contract: str | None
) -> None:
    verdict = judged_under_fault(ended, None, EXPECTED, seen, locked=False)
    assert (verdict and verdict.contract) == contract


@pytest.mark.parametrize(
    ("ended", "seen", "contract"),
    [
        (RETURNED, AFTER, None),
        (RETURNED, BEFORE, "atomicity/no-silent-loss"),
        (RETURNED, EARLIER, "atomicity/no-silent-loss"),
        (RETURNED, OTHER, "atomicity/no-late-commit"),
        (RAISED, BEFORE, "atomicity/usable-after"),
    ],
)
def test_a_call_that_meets_no_fault(
    ended: TrialObservation, seen: Snapshot, contract: str | None
) -> None:
    verdict = judged_without_fault(ended, EXPECTED, seen)
    assert (verdict and verdict.contract) == contract
