"""Replays an artefact in a process of its own, where the saver may hang or crash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.contracts.tables import atomicity
from saverproof.families.answer import ReplayAnswer, Status, not_seen, unclear
from saverproof.families.items import ItemPlan
from saverproof.families.requests import REPLAY, Recorded
from saverproof.process.client import JudgeGone
from saverproof.process.requests import Child
from saverproof.savers.facts import Facts
from saverproof_reports.steadiness import artefact_is_steady

_TRIES = 3
"""In how many runs a flaw must not show before it counts as fixed: a flaw that depends on chance
shows only now and then. The families of kills and histories make more runs of their own.
"""
_TRIES_OF_GRAPHS = 10
"""In how many runs of a graph a flaw must not show before it counts as fixed: a graph's nodes run
in threads. A run takes tenths of a second.
"""
_HUNG = "no answer after"


def plan_for(artefact: Mapping[str, Any], facts: Facts, folder: Path) -> ItemPlan:
    """Return the plan by which an artefact is replayed on the target with these facts.

    A fault is injected again by the family of faults, whatever contract it has shown to be broken.
    """
    injected = artefact["phase"] == atomicity.TABLE.phase
    return ItemPlan(
        target=dict(facts["ref"]),
        facts=facts,
        family=atomicity.TABLE.name if injected else contract(artefact["contract"]).family,
        api=artefact["api"],
        profile="default",
        seed=artefact["seed"],
        folder=str(folder),
    )


def run_again(
    process: Child,
    artefact: Mapping[str, Any],
    facts: Facts,
    folder: Path,
    *,
    silence_s: float,
) -> ReplayAnswer:
    """Replay ``artefact``, and return whether its flaw is still there.

    It is run several times before it counts as fixed. If the flaw depends on timing, it never does.
    ``process`` may be closed at the end.

    Raises:
        SaverproofError: the target could not be opened or closed, or the kit itself failed.
    """
    objection = _objection(artefact, facts)
    if objection is not None:
        return unclear(objection)
    tries = _TRIES_OF_GRAPHS if artefact["phase"] == "graph" else _TRIES
    answer = unclear("it was not run")
    for number in range(tries):
        own = folder / str(number)
        own.mkdir()
        answer = _run_once(process, artefact, plan_for(artefact, facts, own), silence_s)
        if answer.status is not Status.FIXED:
            return answer
    return answer if artefact_is_steady(artefact) else not_seen(tries)


def _run_once(
    process: Child, artefact: Mapping[str, Any], plan: ItemPlan, silence_s: float
) -> ReplayAnswer:
    recorded = Recorded(plan, artefact["contract"], artefact["program"])
    try:
        return process.ask(REPLAY, recorded, silence_s=silence_s)
    except JudgeGone as gone:
        return _of_death(artefact, gone)


def _objection(artefact: Mapping[str, Any], facts: Facts) -> str | None:
    needed = ("sync", "async") if artefact["api"] == "crossed" else (artefact["api"],)
    missing = [api for api in needed if api not in facts["apis"]]
    return f"{facts['name']} has no {missing[0]} API" if missing else None


def _of_death(artefact: Mapping[str, Any], gone: JudgeGone) -> ReplayAnswer:
    """Return what the death or silence of the process says about the recorded flaw."""
    recorded = str(artefact.get("summary", ""))
    alike = gone.reason == recorded or all(
        reason.startswith(_HUNG) for reason in (gone.reason, recorded)
    )
    if alike:
        observed = f"{gone.reason}\n{gone.stacks}".strip()
        return ReplayAnswer(Status.FAILING, gone.reason, "an answer or an exception", observed)
    return unclear(f"{gone.reason}, which is not what was recorded")
