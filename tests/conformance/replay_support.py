"""What was recorded of a wrong saver is run again: on it, and on the right one in its place."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of, plan_of
from tests.conformance.replay_targets import ref_to
from tests.conformance.reproducer_support import of_the_right_saver
from tests.conformance.script_runs import ended, ended_here
from tests.conformance.selftest_support import api_of, family_of
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WrongSaver

from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.handlers import replay
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.requests import Recorded
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.loading import load


def plan_for(
    wrong: WrongSaver, folder: Path, *, right: bool = False, profile: str = "quick"
) -> ItemPlan:
    ref = ref_to(wrong.name, right=right)
    family = family_of(wrong)
    target = load(ref)
    facts = facts_of(target, folder) if family == "interface" else facts_from(EVERY_OPERATION)
    plan = plan_of(target, family, api_of(wrong, family), folder, profile=profile, facts=facts)
    return ItemPlan(**{**asdict(plan), "target": ref.to_json()})


def replayed(plan: ItemPlan, finding: Finding) -> ReplayAnswer:
    return replay(Recorded(plan, finding.contract, finding.program), lambda _: None)


def exit_of(script: str, family: str, folder: Path) -> int:
    """How a script ends: that of a program in this process, any other in its own."""
    status, _ = ended_here(script) if family in FUNCTIONAL_FAMILIES else ended(script, folder)
    return status


def is_repaired(wrong: WrongSaver) -> bool:
    """Whether the right saver is the wrong one without its mistake, and not another one."""
    references = (ReferenceSaver, SqliteReference, StateFileReference)
    return any(right in wrong.saver.__bases__ for right in references)


def assert_shown_until_mended(
    wrong: WrongSaver, plan: ItemPlan, found: Finding, folder: Path
) -> None:
    """A replay and a script show the flaw of the wrong saver, and nothing on the right one."""
    assert replayed(plan, found).status is Status.FAILING
    mended = replayed(plan_for(wrong, folder, right=True), found)
    timed = plan.family in ("concurrency", "durability")
    if is_repaired(wrong):
        right = {Status.FIXED, Status.NOT_SEEN} if timed else {Status.FIXED}
        assert mended.status in right, mended.said
    assert mended.status is not Status.FAILING, mended.said
    assert found.reproducer or plan.family not in FUNCTIONAL_FAMILIES
    if found.reproducer:
        # What hangs on timing shows in most runs, not in all: the report says in how many.
        tries = range(3 if timed else 1)
        assert any(exit_of(found.reproducer, plan.family, folder) == 1 for _ in tries)
        # A right saver of another design may not have the table, or the place, of a fault or kill.
        programs = plan.family in FUNCTIONAL_FAMILIES
        if programs or is_repaired(wrong):
            repaired = of_the_right_saver(found.reproducer)
            # Mended, it may never come to where it was killed: then the script decides nothing.
            assert exit_of(repaired, plan.family, folder) in ({0} if programs else {0, 2})
