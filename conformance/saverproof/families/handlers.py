"""The functions by which the judge process answers requests. Importing this imports every
family.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from saverproof.errors import OpeningError
from saverproof.families.answer import Blame, ReplayAnswer, unclear
from saverproof.families.atomicity.trials.worker import any_left
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.registry import family, judged
from saverproof.families.requests import (
    BLAME,
    CLEAN,
    IS_SPENT,
    JUDGE,
    RELEASE,
    REPLAY,
    Death,
    Leftovers,
    Recorded,
)
from saverproof.families.trial_processes import release_harness
from saverproof.process import descriptors
from saverproof.process.requests import Handlers, Progress
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import drop
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults.syscalls import any_covered


def judge(plan: ItemPlan, progress: Progress) -> Outcome:
    """Judge a plan, and return the outcome."""
    return judged(plan, _target(plan), progress)


def blame(death: Death, progress: Progress) -> Blame:
    """Let the family blame a contract for a death, by its journal."""
    plan = death.plan
    return family(plan.family).blame_of_death(plan, _target(plan), death.journal)


def replay(recorded: Recorded, progress: Progress) -> ReplayAnswer:
    """Return whether a recorded flaw is still there."""
    plan = recorded.plan
    of = family(plan.family)
    try:
        return of.replay(plan, _target(plan), recorded.contract, recorded.program)
    except ValueError as error:
        return unclear(f"the artefact cannot be used: {error}")


def is_spent(nothing: None, progress: Progress) -> bool:
    """Return whether this process cannot be used for another item.

    That is so if a thread that was given up still runs, if a thread's system calls cannot be
    failed, or if descriptors were left open: the next item might find none free.
    """
    return any_left() or any_covered() or descriptors.are_left()


def release(nothing: None, progress: Progress) -> None:
    """End the process that trials are forked from, if one is kept."""
    release_harness()


def clean(left: Leftovers, progress: Progress) -> None:
    """Drop each of the workspaces, also after one that cannot be dropped."""
    target = _target(left.plan)
    for name in left.names:
        path = Path(left.plan.folder) / name
        with suppress(OpeningError):
            drop(target, Workspace(path, path.name))


def _target(plan: ItemPlan) -> Target:
    return load(TargetRef.from_json(plan.target))


HANDLERS = Handlers()
HANDLERS.add(JUDGE, judge)
HANDLERS.add(BLAME, blame)
HANDLERS.add(REPLAY, replay)
HANDLERS.add(IS_SPENT, is_spent)
HANDLERS.add(CLEAN, clean)
HANDLERS.add(RELEASE, release)
