"""Has an artefact run again in a process of its own, where it may hang or crash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.facts import Facts
from saverproof.families.answer import ReplayAnswer, Status, not_seen, unclear
from saverproof.families.requests import REPLAY, Recorded
from saverproof.items import ItemPlan
from saverproof.process.client import JudgeGone
from saverproof.process.requests import Child
from saverproof_reports.steadiness import artefact_is_steady

_TRIES = 3
"""So often a flaw must not show before that counts: one that chance has a hand in shows now and
then. Kills and histories are tried more often by their own families.
"""
_TRIES_OF_GRAPHS = 10
"""The same for graphs, whose nodes run in threads; a play takes tenths of a second."""
_HUNG = "no answer after"


def plan_for(artefact: Mapping[str, Any], facts: Facts, folder: Path) -> ItemPlan:
    """The plan in which an artefact is run again, on the target of which ``facts`` tell."""
    return ItemPlan(
        target=dict(facts["ref"]),
        facts=facts,
        family=contract(artefact["contract"]).family,
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
    """Whether the flaw of ``artefact`` is still there; at the end, ``process`` may be closed.

    It is run several times before it counts as fixed, and then only if it showed each time that it
    was looked for.

    Raises:
        SaverproofError: the target could not be opened or closed, or the kit itself broke.
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
    """What a process that died, or fell silent, says of the flaw that was recorded."""
    recorded = str(artefact.get("summary", ""))
    alike = gone.reason == recorded or all(
        reason.startswith(_HUNG) for reason in (gone.reason, recorded)
    )
    if alike:
        observed = f"{gone.reason}\n{gone.stacks}".strip()
        return ReplayAnswer(Status.FAILING, gone.reason, "an answer or an exception", observed)
    return unclear(f"{gone.reason}, which is not what was recorded")
