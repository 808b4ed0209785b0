"""Runs one saver through many faults in a row. If each fault leaks something, the saver runs out of
it in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from saverproof.families.atomicity.fault_plans import Injection, injections
from saverproof.families.atomicity.programs.random_programs import RecordedSteps
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.scenarios import A_NEW_TASK, THE_SAME_ID
from saverproof.families.atomicity.sweeps.sweep import FaultSweep
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.programs.small import THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import Program, Step
from saverproof.savers.targets.calling import BETWEEN_ITEMS
from saverproof_faults import Event, Fault, Places, Plan

TIMES = 22
"""How many faults one saver lives through: more than the connections of any usual pool, which has
5, 10 or 20.
"""
_START: Program = (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1))
_FAILED = (THE_SAME_ID, A_NEW_TASK)
"""The scenarios whose operations take turns."""


@dataclass(frozen=True, slots=True)
class FaultsInARow:
    """The steps of a program most of whose steps fail.

    ``least`` is the number of faults that a violation must have followed to be reported: the sweeps
    may already have found what a single fault leads to.
    """

    program: Program
    faults: Mapping[int, Injection]
    least: int = 2

    @property
    def source(self) -> RecordedSteps:
        """Return the program's steps."""
        return RecordedSteps(self.program, self.faults, (THREAD,))


def faults_in_a_row(bench: FaultBench, sweeps: Iterable[FaultSweep]) -> list[FaultsInARow]:
    """Return a program for each sort of fault for which the saver's calls have a place.

    Raises:
        UnansweredError: a call does not return although nothing fails.
        OpeningError: the saver could not be opened or closed.
    """
    judged = [sweep for sweep in sweeps if sweep.clean is None]
    swept = [sweep for scenario in _FAILED for sweep in judged if sweep.scenario is scenario]
    if len(swept) < len(_FAILED):
        return []
    places = [
        _one_of_each(
            (
                *injections(_passed(bench, number), (), 0),
                *(one for one in sweep.injections if one.kind in _BELOW_AND_BESIDE),
            )
        )
        for number, sweep in enumerate(swept)
    ]
    return [
        FaultsInARow(
            _PROGRAM, {len(_START) + number: places[number % 2][sort] for number in range(TIMES)}
        )
        for sort in places[0]
        if sort in places[1]
    ]


def _passed(bench: FaultBench, number: int) -> Places:
    """Return the places of a call on a saver that has been used before: a saver's first call may
    have more places.
    """
    position = len(_START) + 2 + number
    source = RecordedSteps(_PROGRAM[: position + 1], {}, (THREAD,))
    trial = RandomTrial(bench, source, counted=position)
    bench.on_worker(trial.run)
    return trial.places


def _step(number: int) -> Step:
    """Return the ``number``-th call of a program: a put if the number is even, a batch if it is
    odd.
    """
    if number % 2:
        return batch(THREAD, 2, 10 + number, 4)
    return checkpoint(THREAD, 2, 1, run="run-2", seed=100 + number)


_PROGRAM: Program = (*_START, *(_step(number) for number in range(TIMES)))


def _one_of_each(injections: Iterable[Injection]) -> dict[tuple[str, str], Injection]:
    """Return one fault of each sort, at its second place if it has two: before the first one, the
    saver may not have taken anything yet that it could leak. For messages, add the last place,
    which may have a connection of its own.
    """
    sorts = sorted_out(injections)
    chosen = {sort: found[min(1, len(found) - 1)] for sort, found in sorts.items()}
    if messages := sorts.get((Fault.CONNECTION_RESET, "")):
        chosen[Fault.CONNECTION_RESET, "last"] = messages[-1]
    return chosen


def sorted_out(injections: Iterable[Injection]) -> dict[tuple[str, str], list[Injection]]:
    """Return the faults that are tried in a row, by sort."""
    sorts: dict[tuple[str, str], list[Injection]] = {}
    for injection in injections:
        plan = injection.plan
        if plan is not None and plan.fault in _TRIED and injection.also is None:
            sorts.setdefault((plan.fault, _whereabouts(plan)), []).append(injection)
    return sorts


def _whereabouts(plan: Plan) -> str:
    """Return the sort of place at which a plan strikes: a fault may leave something else behind
    there than at other places. Return "" for any other place.
    """
    if plan.about == BETWEEN_ITEMS:
        return BETWEEN_ITEMS
    return plan.place.event if plan.place.event is Event.COMMIT else ""


_BELOW_AND_BESIDE = ("io", "network", "cancellation")
_TRIED = frozenset(
    {
        Fault.RAISE,
        Fault.TRIGGER_ABORT,
        Fault.CANCEL,
        Fault.IO_ERROR,
        Fault.CONNECTION_RESET,
        Fault.SESSIONS_ENDED,
    }
)
"""One fault for each layer in which calls can fail: the driver, the engine, the task, the disk, the
network, and the server that ends what is idle.
"""
