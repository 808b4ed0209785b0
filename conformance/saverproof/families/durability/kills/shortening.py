"""Finds the shortest run that shows the same flaw as a longer one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.families.budget import SHORTENED_WITHIN
from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.record import KillTrial
from saverproof.families.durability.kills.sweep import KillSweep
from saverproof.families.durability.kills.trials import Subject
from saverproof.families.durability.kills.workloads import Workload
from saverproof.programs import small
from saverproof.programs.small import OPERATIONS
from saverproof.programs.steps.definitions import Program, PutWrites

_MOST_KILLS = 150
"""The most kills that are spent on one contract."""
_MOST_WITH_SERVER = 12
"""The most kills that are spent on one contract if each kill ends a server, which must start
again.
"""
_MOST_SHOWN = 6


SMALL: tuple[Program, ...] = (
    small.ONE,
    small.CHILD,
    small.WRITES,
    small.LONG_VALUE,
    small.EARLY_WRITES,
    small.AGAIN,
    small.TWO,
    small.TWO_WRITES,
    small.LONG_BATCH,
    small.LATE_WRITES,
    small.TWO_DELETED,
    (*small.TWO, small.COPY),
    (*small.TWO, small.DELETE_RUN),
    (*small.TWO, small.PRUNE),
)
"""Runs from which nothing could be left out, the shortest first."""


def shortened(sweep: KillSweep, contract: str, trial: KillTrial) -> list[KillTrial]:
    """Return trials of the shortest run that break the same contract. If no shorter run does,
    return the trial itself.
    """
    budget = sweep.record.tally.budget
    if trial.beside or sweep.bench.hangs_too_often or not budget.has_room(share=SHORTENED_WITHIN):
        return [trial]
    with sweep.bench.server_for(trial.place):
        return _shortened(sweep, contract, trial)


def _shortened(sweep: KillSweep, contract: str, trial: KillTrial) -> list[KillTrial]:
    left = _MOST_WITH_SERVER if trial.place.server else _MOST_KILLS
    for subject in _subjects(sweep, trial):
        places = _places(subject, trial)[:left]
        left -= len(places)
        shown = list(_shown(sweep, subject, contract, places))
        if not left and not shown:
            break
        if shown:
            return sorted(shown, key=lambda one: one.rank)
    return [trial]


def _subjects(sweep: KillSweep, trial: KillTrial) -> Iterator[Subject]:
    steps = trial.run.program
    flying = OPERATIONS[type(steps[trial.acknowledged])] if trial.flying else None
    for program in SMALL:
        able = {OPERATIONS[type(step)] for step in program} <= {"put", "put_writes", *sweep.able}
        if isinstance(program[0], PutWrites) and "early_writes" not in sweep.able:
            continue
        # What was torn was in flight, and what was lost may have been anything.
        torn = trial.verdict.outcome is KillOutcome.TORN
        if able and len(program) <= len(steps) and (not torn or _last(program) == flying):
            subject = sweep.rehearsed(Workload("a short run", program))
            if subject is not None:
                yield subject


def _last(program: Program) -> str:
    return OPERATIONS[type(program[-1])]


def _places(subject: Subject, trial: KillTrial) -> list[KillPlace]:
    """Return the places in the run's last operation, and after it."""
    last = len(subject.workload.program) - 1
    # The loss that a put would show happens before the put is called.
    least = last - 1 if trial.continued else last
    first = OPENING if trial.place.operation == OPENING else last
    kinds = {trial.place.kind}
    if not trial.place.again:
        kinds.add(PlaceKind.ACKNOWLEDGED)
    if trial.place.kind is PlaceKind.INSTANT:
        kinds = {*PlaceKind}
    places = [
        replace(place, server=trial.place.server, again=trial.place.again)
        for place in subject.places
        if place.kind in kinds and (place.operation >= least or place.operation == first)
    ]
    return sorted(places, key=lambda place: place.kind is not PlaceKind.ACKNOWLEDGED)


def _shown(
    sweep: KillSweep, subject: Subject, contract: str, places: list[KillPlace]
) -> Iterator[KillTrial]:
    """Yield the kills of a run that break the contract."""
    count = 0
    for place in places:
        found = sweep.again(subject, place)
        if contract in found.blamed:
            count += 1
            yield found
        if count >= _MOST_SHOWN:
            return
