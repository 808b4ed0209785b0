"""What is recorded of each wrong saver shows its flaw again, and nothing on the right one.

One wrong saver for each contract that programs can judge, and a few of the families that take
longer; ``SAVERPROOF_SEEDS`` (``make selftest-full``) tries all of them.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of, plan_of
from tests.conformance.replay_targets import ref_to
from tests.conformance.reproducer_support import of_the_right_saver
from tests.conformance.selftest_support import EVERY_FAMILY, api_of, family_of
from tests.reference.saver import ReferenceSaver
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.families.answer import Answer, Status
from saverproof.families.atomicity import effort as atomicity
from saverproof.families.concurrency import effort as concurrency
from saverproof.families.durability import effort as durability
from saverproof.families.functional.family import hunt
from saverproof.families.handlers import replay
from saverproof.families.registry import judged
from saverproof.families.requests import Recorded
from saverproof.items import Finding, Plan
from saverproof.programs.themes import FUNCTIONAL_FAMILIES
from saverproof.scripts import trying
from saverproof.targets.loading import load

ROOT = Path(__file__).parents[2]

FEW = {"no-rollback", "commit-every-third", "parents-not-stored", "read-is-counted"}
"""Of the families that are not judged by programs alone: one each."""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick profile with just enough faults, kills and callers to find those few."""
    faults = dataclasses.replace(atomicity.EFFORTS["quick"], most=60)
    kills = dataclasses.replace(
        durability.EFFORTS["quick"], swept=45, instants=0, beside=0, afresh=0, images=0, graphs=0
    )
    callers = dataclasses.replace(
        concurrency.EFFORTS["quick"], shared=2, instances=1, processes=1, races=0
    )
    for family, effort in ((atomicity, faults), (durability, kills), (concurrency, callers)):
        monkeypatch.setitem(family.EFFORTS, "quick", effort)


def chosen() -> Iterator[WrongSaver]:
    """Those that hang are left out: they would take this process along."""
    seen: set[str] = set()
    for wrong in WRONG:
        if wrong.hangs:
            continue
        slow = family_of(wrong) not in FUNCTIONAL_FAMILIES
        if EVERY_FAMILY or wrong.name in FEW or not (slow or wrong.breaks in seen):
            seen.add(wrong.breaks)
            yield wrong


def plan_for(
    wrong: WrongSaver, folder: Path, *, right: bool = False, profile: str = "quick"
) -> Plan:
    ref = ref_to(wrong.name, right=right)
    family = family_of(wrong)
    target = load(ref)
    facts = facts_of(target, folder) if family == "interface" else facts_from(EVERY_OPERATION)
    plan = plan_of(target, family, api_of(wrong, family), folder, profile=profile, facts=facts)
    return Plan(**{**asdict(plan), "target": ref.to_json()})


def found(wrong: WrongSaver, folder: Path) -> Finding:
    target = load(ref_to(wrong.name))
    if family_of(wrong) in FUNCTIONAL_FAMILIES:
        outcome = hunt(plan_for(wrong, folder), target, wrong.breaks)
        return next(one for one in outcome.findings if one.contract == wrong.breaks)
    for profile in ("quick", "default"):
        outcome = judged(plan_for(wrong, folder, profile=profile), target)
        for finding in outcome.findings:
            if finding.contract == wrong.breaks:
                return finding
    # Whether it is caught is for the self-test of its family to say.
    pytest.skip(f"{wrong.name} was not blamed for {wrong.breaks}: there is nothing to replay")


def replayed(plan: Plan, finding: Finding) -> Answer:
    return replay(Recorded(plan, finding.contract, finding.program), lambda _: None)


def exit_of(script: str, family: str, folder: Path) -> int:
    """How a script ends: that of a program in this process, any other in its own."""
    if family not in FUNCTIONAL_FAMILIES:
        file = folder / "script.py"
        file.write_text(script, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, str(file)], env=environment, check=False).returncode
    try:
        exec(compile(script, "<script>", "exec"), {"__name__": "script"})
    except SystemExit as ending:
        return 1 if ending.code else 0
    return 0


def is_repaired(wrong: WrongSaver) -> bool:
    """Whether the right saver is the wrong one without its mistake, and not another one."""
    return any(right in wrong.saver.__bases__ for right in (ReferenceSaver, SqliteReference))


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("wrong", list(chosen()), ids=lambda wrong: wrong.name)
def test_what_is_recorded_shows_the_flaw_until_it_is_mended(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process for each script would take minutes; others beside this test have them.
    monkeypatch.setattr(trying, "complains_alone", lambda text, promise: True)
    plan = plan_for(wrong, tmp_path)
    finding = found(wrong, tmp_path)
    assert replayed(plan, finding).status is Status.FAILING
    mended = replayed(plan_for(wrong, tmp_path, right=True), finding)
    if is_repaired(wrong):
        assert mended.status is Status.FIXED, mended.said
    assert mended.status is not Status.FAILING, mended.said
    assert finding.reproducer or plan.family not in FUNCTIONAL_FAMILIES
    if finding.reproducer:
        assert exit_of(finding.reproducer, plan.family, tmp_path) != 0
        repaired = of_the_right_saver(finding.reproducer)
        assert exit_of(repaired, plan.family, tmp_path) == 0
