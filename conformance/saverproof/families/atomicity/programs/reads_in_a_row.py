"""Runs one saver through many reads that fail, so that what each of them leaves behind adds up.

No sweep looks at a saver after a failed read, so a single failed read may show something here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice

from saverproof.families.atomicity.fault_plans import (
    SESSIONS_ENDED,
    Injection,
    injections,
    thinned,
)
from saverproof.families.atomicity.programs.random_programs import RecordedSteps
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.programs.repeated_faults import TIMES, FaultsInARow, sorted_out
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.programs.small import THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Step,
)
from saverproof.savers.targets.overriding import target_overrides

_START: Program = (checkpoint(THREAD, 1), batch(THREAD, 1, 1, 2), checkpoint(THREAD, 2, 1))
_READS: tuple[Step, ...] = (GetTuple(THREAD), ListTuples(THREAD))
"""The reads that are made to fail, in turn."""
_HISTORY = DeltaHistory(THREAD, "", None, ("log",))
"""A read that is cancelled as well, if the saver has a method of its own for it. The base class's
asks for one tuple after another.
"""
_METHOD = "aget_delta_channel_history"
_MOST_PLACES = 6
"""The most places of each read that are made to fail, once each: enough for all places
of a read that asks a few times. Each is followed by a use of the saver.
"""

Sort = tuple[str, str]


def reads_in_a_row(bench: FaultBench, *, histories: bool) -> list[FaultsInARow]:
    """Return a program for each sort of fault for which a read has a place. A read fails once at
    each of several places, and then several times at one of them. ``histories`` says that the saver
    answers questions for delta histories.

    Raises:
        UnansweredError: a call does not return although nothing fails.
        OpeningError: the saver could not be opened or closed.
    """
    places = {read: sorted_out(_passed(bench, read)) for read in _READS}
    if histories and bench.api == "async" and bench.on_worker(lambda: _has_history(bench)):
        cancelled = [one for one in _passed(bench, _HISTORY) if one.kind == "cancellation"]
        places[_HISTORY] = sorted_out(cancelled)
    sorts = dict.fromkeys(sort for one in places.values() for sort in one)
    return [
        _program({read: one[sort] for read, one in places.items() if sort in one}) for sort in sorts
    ]


def _has_history(bench: FaultBench) -> bool:
    return target_overrides(bench.target, bench.folder, bench.loop, _METHOD)


def _passed(bench: FaultBench, read: Step) -> list[Injection]:
    """Return what can fail in a read of a saver that has read before."""
    program = (*_START, *_READS, read)
    trial = RandomTrial(bench, RecordedSteps(program, {}, (THREAD,)), counted=len(program) - 1)
    bench.on_worker(trial.run)
    ended = [SESSIONS_ENDED] if bench.server is not None else []
    return [*injections(trial.places, trial.cancellations, 0), *ended]


def _program(found: Mapping[Step, Sequence[Injection]]) -> FaultsInARow:
    """Return the program; ``found`` are faults of one sort, by their read."""
    once = _taken_in_turn({read: thinned(places, _MOST_PLACES) for read, places in found.items()})
    again = cycle([(read, places[min(1, len(places) - 1)]) for read, places in found.items()])
    taken = [*once, *islice(again, TIMES)]
    program = (*_START, *(read for read, _ in taken))
    faults = {len(_START) + number: fault for number, (_, fault) in enumerate(taken)}
    return FaultsInARow(program, faults, least=1)


def _taken_in_turn(found: Mapping[Step, Sequence[Injection]]) -> Iterator[tuple[Step, Injection]]:
    """Yield each fault once, with its read."""
    for read, places in found.items():
        # A single place comes often enough as it is.
        for injection in places if len(places) > 1 else ():
            yield read, injection
