"""Makes trials out of the results of kills and of the looks after them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.durability.kills.bench import KillBench
from saverproof.families.durability.kills.judging import (
    KilledRun,
    KillOutcome,
    KillVerdict,
    LeftBehind,
    judge,
    judge_put_again,
    judge_revealed,
)
from saverproof.families.durability.kills.kill_places import KillPlace
from saverproof.families.durability.kills.record import REOPENS, KillTrial
from saverproof.families.durability.kills.workloads import Workload
from saverproof_faults.kill import DiedBy, TrialResult, View

TROUBLES = ("opening", "reading", "integrity", "writing")
_MEANING = {
    "opening": "the store does not open",
    "reading": "reading raises",
    "integrity": "the integrity check fails",
    "writing": "the store takes no writes",
}


@dataclass(slots=True)
class Subject:
    """A workload after a clean run, with the places that its process passes."""

    workload: Workload
    run: KilledRun
    versions: list[Any]
    places: list[KillPlace] = field(default_factory=list)
    compared: bool = False
    """True if ``run`` was corrected by what other processes see of it."""


def looked_for(subject: Subject, result: TrialResult) -> dict[str, int]:
    """Return what a look needs to know besides the store: the put that makes early writes visible,
    or the removal in flight. What the removal left shows when its checkpoints are put again.
    """
    done = len(result.acknowledged)
    if result.in_flight and subject.run.removes(done):
        return {"removed": done}
    return {"goes_on_with": done} if subject.run.revealed_after(done) else {}


def trial_of(
    subject: Subject, place: KillPlace, result: TrialResult, view: View, *, beside: bool = False
) -> KillTrial:
    """Return the trial of one kill and of the look at the store after it."""
    acknowledged, flying = len(result.acknowledged), bool(result.in_flight)
    trouble = trouble_of(view)
    seen = False
    if result.died_by is not DiedBy.KILL:
        verdict = KillVerdict(KillOutcome.NOT_FIRED)
    else:
        verdict, seen = _judged(subject, acknowledged, flying, view, trouble)
    later, put_again = verdict, tuple[int, ...]()
    if verdict.kept and view.value is not None and "continued" in view.value:
        later = judge_revealed(subject.run, acknowledged, view.value["continued"])
    elif verdict.kept and view.value is not None and "put_again" in view.value:
        found = LeftBehind.of(view.value)
        later = judge_put_again(subject.run, acknowledged, found)
        put_again = tuple(view.value["put_again"])
        if later.outcome is KillOutcome.UNOPENED:
            seen = True
            trouble = f"{_MEANING['writing']}: {found.error}, as a removed checkpoint was put again"
    return KillTrial(
        subject.run,
        tuple(subject.versions),
        place,
        acknowledged,
        flying,
        verdict if later.kept else later,
        trouble,
        None if view.value is None else view.value.get("first_answer_ms"),
        beside,
        seen=seen,
        continued=not later.kept and not put_again and verdict.kept,
        put_again=() if later.kept else put_again,
        hung=view.died_by is DiedBy.DEADLINE,
    )


def controlled(bench: KillBench, subject: Subject, tell: Callable[[], KillTrial]) -> KillTrial:
    """Return the trial that ``tell`` makes. If it blames the kill, the clean run is corrected by
    what other processes see of it, once, and ``tell`` is called again.
    """
    trial = tell()
    if subject.compared or not ({*trial.blamed} - {REOPENS} or trial.put_again):
        return trial
    subject.run = bench.compared(subject.workload, subject.run, subject.versions)
    subject.compared = True
    return tell()


def survivor_of(subject: Subject, place: KillPlace, result: TrialResult, view: View) -> KillTrial:
    """Return the trial of the second process, which went on after the first had been killed."""
    trouble = trouble_of(view)
    if result.died_by is not DiedBy.FINISHED:
        trouble = f"a second process, which went on: {result.ending()}\n{result.stacks}".strip()
    elif result.value is not None:
        trouble = f"a second process, which went on, could not write: {result.value}"
    verdict, seen = _judged(subject, len(result.acknowledged), False, view, trouble)
    return KillTrial(
        subject.run,
        tuple(subject.versions),
        place,
        len(result.acknowledged),
        False,
        verdict,
        trouble,
        beside=True,
        survivor=True,
        seen=seen,
        hung=DiedBy.DEADLINE in (result.died_by, view.died_by),
    )


def _judged(
    subject: Subject, acknowledged: int, flying: bool, view: View, trouble: str
) -> tuple[KillVerdict, bool]:
    """Return the verdict, and whether a store that cannot be used nevertheless showed everything
    that it should.
    """
    shown = None if view.value is None or _unread(view.value) else view.value["shown"]
    verdict = KillVerdict(KillOutcome.UNOPENED)
    if shown is None:
        return verdict, False
    found = judge(subject.run, acknowledged, flying, shown)
    return (verdict, found.kept) if trouble else (found, False)


def _unread(seen: Mapping[str, Any]) -> bool:
    """Return whether a look ended before everything was read."""
    return "opening" in seen or "reading" in seen


def trouble_of(view: View) -> str:
    """Return why a store could not be used; empty if it could."""
    if view.value is None:
        return f"looking at the store: {view.ending()}\n{view.stacks}".strip()
    return trouble_in(view.value)


def trouble_in(seen: Mapping[str, Any]) -> str:
    """Return why a store could not be used, from the data of a look."""
    for stage in TROUBLES:
        if stage in seen:
            found = seen[stage]
            text = "; ".join(found) if isinstance(found, list) else str(found)
            return f"{_MEANING[stage]}: {text}"
    return ""
