"""Random programs below the driver: a disk stays full, or a server away, until an outage ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance.atomicity.test_atomicity import found, judged, of_class, plan_for
from tests.reference.log_file import LogFileReference
from tests.reference.state_file import StateFileReference

from saverproof.families.answer import Status
from saverproof.families.atomicity import effort, family, fault_programs, scenarios
from saverproof.families.atomicity.replay import replay
from saverproof_faults.syscalls import available

SOME = ["put", "put_writes", "delete_thread", "copy_thread", "prune"]

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


class GivesUpTooSoon(StateFileReference):
    """Refuses everything once two calls in a row have failed."""

    failures = 0

    def replace(self, data: bytes) -> None:
        if self.failures > 1:
            raise OSError("the disk was full twice")
        try:
            super().replace(data)
        except OSError:
            self.failures += 1
            raise
        self.failures = 0


OPENING = f"""\
from contextlib import closing
from pathlib import Path
from {__name__} import GivesUpTooSoon
closing(GivesUpTooSoon.at(Path(path)))"""


@pytest.fixture
def random_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Hardly anything but random programs, so many of them."""

    def limited(programs: int) -> None:
        few = effort.FaultEffort(most=1, slow_most=1, random_programs=programs)
        monkeypatch.setitem(effort.EFFORTS, "quick", few)
        monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[1:2])
        monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: ())

    return limited


def test_who_gives_up_while_the_disk_is_full_is_not_usable_after_it(
    random_alone: Callable[[int], None], tmp_path: Path
) -> None:
    random_alone(16)
    wrong = of_class(GivesUpTooSoon, opening=OPENING)
    (finding,) = judged(wrong, tmp_path, operations=SOME).findings
    assert finding.contract == "atomicity/usable-after"
    assert sum("full disk" in step for step in finding.steps) == 2, finding.steps
    assert "CallFailure.DISK_FULL, Extent.ONWARDS" in finding.reproducer
    plan = plan_for(tmp_path, "sync", SOME)
    for saver, expected in ((wrong, Status.FAILING), (RIGHT, Status.FIXED)):
        assert replay(plan, saver, finding.contract, finding.program).status is expected


RIGHT = of_class(StateFileReference)


@pytest.mark.parametrize("saver", [StateFileReference, LogFileReference])
def test_right_savers_survive_outages(
    saver: type, random_alone: Callable[[int], None], tmp_path: Path
) -> None:
    random_alone(12)
    outcome = judged(of_class(saver), tmp_path, operations=SOME)
    assert (found(outcome), outcome.unknown) == (set(), {})
    assert outcome.extra["faults"]["by_kind"]["in random programs"] > 30
