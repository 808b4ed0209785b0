"""The shortest program with faults that shows what a random one has stumbled over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.fault_plans import Attack
from saverproof.families.atomicity.random_programs import Recorded
from saverproof.families.atomicity.random_trial import Stumble, Walk
from saverproof.families.atomicity.worker import HungError
from saverproof.steps.definitions import Program, Put, PutWrites, Step
from saverproof_faults import FaultsError, Places

_MOST_TRIED = 120


def retraced(bench: Bench, stumble: Stumble) -> Stumble:
    """A program without any step or fault that can be spared; at worst the one given."""
    tried, shorter = 0, True
    while shorter:
        shorter = False
        for program, faults in _shorter(stumble):
            tried += 1
            if tried > _MOST_TRIED:
                return stumble
            again = _again(bench, program, faults)
            if again is not None and again.verdict.contract == stumble.verdict.contract:
                stumble, shorter = again, True
                break
    return stumble


def _shorter(stumble: Stumble) -> Iterator[tuple[Program, dict[int, Attack]]]:
    """The program without a run of steps, long ones first; then without one of the faults; then
    with a step that stores less.
    """
    program, faults = stumble.program, stumble.faults
    size = len(program) - 1
    while size:
        for start in range(len(program) - size):
            kept = [at for at in range(len(program)) if not start <= at < start + size]
            renumbered = {new: faults[at] for new, at in enumerate(kept) if at in faults}
            yield tuple(program[at] for at in kept), renumbered
        size //= 2
    for spared in faults:
        if len(faults) > 1:
            yield program, {at: fault for at, fault in faults.items() if at != spared}
    for at, step in enumerate(program):
        for plainer in _plainer(step):
            if plainer != step:
                yield (*program[:at], plainer, *program[at + 1 :]), faults


def _plainer(step: Step) -> Iterator[Step]:
    match step:
        case Put():
            yield replace(step, changes=step.changes[:1], metadata={})
        case PutWrites():
            yield replace(step, writes=step.writes[:1], path="")
            yield replace(step, writes=step.writes[:2], path="")


def _again(bench: Bench, program: Program, faults: dict[int, Attack]) -> Stumble | None:
    walk = Walk(bench, Recorded(program, faults))
    try:
        return bench.on_worker(walk.run)
    except HungError:
        bench.renew()
        return None


def places_of(bench: Bench, stumble: Stumble, position: int) -> Places:
    """What a step of the program passes that is not failed there."""
    walk = Walk(bench, Recorded(stumble.program, {}), counted=position)
    with suppress(FaultsError):
        try:
            bench.on_worker(walk.run)
        except HungError:
            bench.renew()
    return walk.places
