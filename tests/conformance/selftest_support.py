"""Hunts for what is wrong with the deliberately wrong savers, by programs alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of, plan_of
from tests.conformance.replay_targets import ref_to
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contract
from saverproof.contracts.tables import isolation
from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.judging import LARGE, FunctionalJudging
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.registry import judged
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target

SEEDS = range(int(os.environ.get("SAVERPROOF_SEEDS", "1")))
EVERY_FAMILY = "SAVERPROOF_SEEDS" in os.environ


def hunt(
    plan: ItemPlan, target: Target, *wanted: str, steps: int = 20_000, heavy: bool = False
) -> Outcome:
    """Search with given programs and the random driver, until one of the contracts is found broken.

    The outcome may name other contracts that were found broken on the way. With ``heavy`` the
    programs that take seconds are among those given.
    """
    effort = ProgramEffort(steps=steps, examples=0, bulk=wanted == (LARGE,), heavy=heavy)
    tally = Tally(plan)
    FunctionalJudging(plan, target, tally, effort, until=frozenset(wanted)).run()
    return tally.outcome()


def family_of(wrong: WrongSaver) -> str:
    """The family of the contract that a wrong saver breaks."""
    return contract(wrong.breaks).family


def judged_by_programs() -> list[WrongSaver]:
    """The wrong savers that programs in this process can show: those that come back."""
    return [w for w in WRONG if family_of(w) in FUNCTIONAL_FAMILIES and not w.hangs]


def replayed_by_programs() -> list[WrongSaver]:
    """One of them for each contract; all of them where there is time for every family."""
    of_each = {wrong.breaks: wrong for wrong in reversed(judged_by_programs())}
    return judged_by_programs() if EVERY_FAMILY else list(of_each.values())


def waiting_on_their_loop() -> list[WrongSaver]:
    """The wrong savers that hang where a program can leave them behind."""
    return [w for w in WRONG if w.breaks.startswith("parity/no-event-loop-hang")]


def allowed(wrong: WrongSaver) -> set[str]:
    """The contracts that may be blamed on a wrong saver: its own, and what follows from it."""
    return {wrong.breaks, *contract(wrong.breaks).implies, *wrong.also}


def target_of(wrong: WrongSaver) -> Target:
    """A wrong saver as a target."""
    return Target(name="wrong", open=wrong.make, drop=wrong.drop)


def as_probed(wrong: WrongSaver) -> Target:
    """A wrong saver as a target, with what the probe finds of its workspaces.

    In a store that is taken for a new one each time, every program would show all before it.
    """
    if wrong.breaks != isolation.WORKSPACES.id:
        return target_of(wrong)
    return replace(target_of(wrong), ref=replace(ref_to(wrong.name), shares_store=True))


def api_of(wrong: WrongSaver, family: str) -> str:
    """The API through which to judge a family of a wrong saver."""
    if family == "parity":
        return "crossed"
    return next((api for api in wrong.apis if api in ("sync", "async")), "sync")


def facts_for(wrong: WrongSaver, folder: Path) -> dict[str, Any]:
    """What judging has to know of a wrong saver."""
    if family_of(wrong) == "interface":
        return facts_of(target_of(wrong), folder)
    # Most cannot be called without care, and all have what the reference saver has.
    return facts_from(EVERY_OPERATION)


def hunted(wrong: WrongSaver, folder: Path, seed: int) -> Outcome:
    """What a wrong saver's family finds until the contract that it breaks is found broken."""
    family = family_of(wrong)
    target = target_of(wrong)
    api = api_of(wrong, family)
    plan = plan_of(target, family, api, folder, seed=seed, facts=facts_for(wrong, folder))
    return hunt(plan, target, wrong.breaks, heavy=wrong.heavy)


def blamed(outcome: Outcome) -> set[str]:
    """The contracts that are found broken."""
    return {finding.contract for finding in outcome.findings}


def blamed_everywhere(wrong: WrongSaver, folder: Path) -> set[str]:
    """The contracts of every functional family that a wrong saver is blamed for."""
    target = as_probed(wrong)
    found: set[str] = set()
    for family in FUNCTIONAL_FAMILIES:
        api = api_of(wrong, family)
        plan = plan_of(target, family, api, folder, facts=facts_for(wrong, folder))
        outcome = judged(plan, target)
        found |= {finding.contract for finding in outcome.findings}
    return found
