"""What is recorded under faults, kills and many callers shows the flaw until it is mended.

By day the quickest wrong saver; ``SAVERPROOF_SEEDS`` (``make selftest-full``) tries all of them.
What programs show is replayed where it is found, in the self-test of their families.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.conformance.replay_support import assert_shown_until_mended, plan_for
from tests.conformance.replay_targets import ref_to
from tests.conformance.selftest_support import EVERY_FAMILY, family_of
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.families.atomicity import effort as atomicity
from saverproof.families.concurrency import effort as concurrency
from saverproof.families.durability import effort as durability
from saverproof.families.items import Finding
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.registry import judged
from saverproof.savers.targets.loading import load

FEW = {"parents-not-stored"}
"""The quickest: by night, all of every family."""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick profile with just enough faults, kills and callers to find those few."""
    faults = dataclasses.replace(atomicity.EFFORTS["quick"], most=60)
    kills = dataclasses.replace(
        durability.EFFORTS["quick"],
        swept=45,
        instants=0,
        beside=0,
        afresh=0,
        images=0,
        graphs=0,
        # What failing syncs show of a saver found by a kill is not replayed, and each such finding
        # costs more than the kills; what they alone show is found by the other profile.
        syncs=0,
    )
    callers = dataclasses.replace(
        concurrency.EFFORTS["quick"], shared=2, instances=1, processes=1, races=0
    )
    for family, effort in ((atomicity, faults), (durability, kills), (concurrency, callers)):
        monkeypatch.setitem(family.EFFORTS, "quick", effort)


def chosen() -> list[WrongSaver]:
    """Those that hang are left out: they would take this process along. So are those of updates,
    whose plans name an older release, and those whose target says how time passes: their own tests
    replay them.
    """
    elsewhere = {*FUNCTIONAL_FAMILIES, "upgrade", "expiry"}
    slow = [wrong for wrong in WRONG if family_of(wrong) not in elsewhere]
    return [wrong for wrong in slow if not wrong.hangs and (EVERY_FAMILY or wrong.name in FEW)]


def found(wrong: WrongSaver, folder: Path) -> Finding:
    target = load(ref_to(wrong.name))
    for profile in ("quick", "default"):
        outcome = judged(plan_for(wrong, folder, profile=profile), target)
        for finding in outcome.findings:
            if finding.contract == wrong.breaks:
                return finding
    # Whether it is caught is for the self-test of its family to say.
    pytest.skip(f"{wrong.name} was not blamed for {wrong.breaks}: there is nothing to replay")


@pytest.mark.usefixtures("little", "shared_harness")
@pytest.mark.parametrize("wrong", chosen(), ids=lambda wrong: wrong.name)
def test_what_is_recorded_shows_the_flaw_until_it_is_mended(
    wrong: WrongSaver, tmp_path: Path
) -> None:
    finding = found(wrong, tmp_path)
    assert_shown_until_mended(wrong, plan_for(wrong, tmp_path), finding, tmp_path)
