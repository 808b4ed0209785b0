"""Finds the same flaw on the smallest store that shows it, by the plainest fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.atomicity.scenarios import FaultScenario
from saverproof.families.atomicity.sweeps.own_server import like, needs_own_server
from saverproof.families.atomicity.sweeps.record import Found, plainness
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, swept
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.worker import SlowError, UnansweredError
from saverproof.families.budget import SHORTENED_WITHIN, Budget
from saverproof.programs import small
from saverproof.programs.steps.definitions import SetUp

_MOST_TRIALS = 60
_MOST_SHOWN = 5


SMALL = tuple(
    FaultScenario(title, program[:-1], program[-1])
    for title, program in (
        ("an empty store", small.ONE),
        ("the same id again", small.AGAIN),
        ("a history", small.CHILD),
        ("a checkpoint", small.LONG_VALUE),
        ("a checkpoint", small.WRITES),
        ("a checkpoint, a long batch", small.LONG_BATCH),
        ("a checkpoint with writes", (*small.WRITES, small.DELETE)),
        ("a checkpoint with writes", (*small.WRITES, small.DELETE_RUN)),
        ("a checkpoint with writes", (*small.WRITES, small.COPY)),
        ("two checkpoints", (*small.TWO, small.PRUNE)),
        ("a checkpoint", (*small.ONE, SetUp())),
    )
)
"""Stores from which nothing could be left out, for each operation the smallest first."""


def shortened(bench: FaultBench, found: Found, stack: ExitStack, budget: Budget) -> list[Found]:
    """Return smaller trials that break the same contract, the plainest first; at worst the given
    one.
    """
    injection, scenario = found.injection, found.sweep.scenario
    if injection is None or not budget.has_room(share=SHORTENED_WITHIN):
        return [found]
    shown: list[Found] = []
    for smaller in (replace(one, closed=scenario.closed) for one in SMALL):
        fewer = len(smaller.start) < len(scenario.start)
        if smaller.operation == scenario.operation and fewer:
            with suppress(NoCleanRunError, OpeningError):
                count = partial(swept, bench, smaller, stack, also_lasting=False)
                try:
                    sweep = bench.on_worker(count)
                except UnansweredError:
                    # Something left by this trial may block the next one, so no trial may follow.
                    bench.renew()
                    return [found]
                if sweep.clean is None:
                    shown += _shown(sweep, found, budget)
        if shown:
            break
    return sorted(shown, key=lambda one: one.rank) or [found]


def _shown(sweep: FaultSweep, found: Found, budget: Budget) -> Iterator[Found]:
    """Yield trials with faults other than I/O errors that have the same verdict."""
    assert found.injection is not None
    kinds = {found.injection.kind} if found.injection.kind in _ALONE else {"client", "engine"}
    places = sweep.counted.places
    own = needs_own_server(found.injection, places)
    these = like(found.injection, places) if own else sweep.injections
    chosen = sorted(
        (injection for injection in these if injection.kind in kinds),
        key=lambda injection: plainness(injection, found.verdict.contract),
    )
    count = 0
    trials = chosen[:_MOST_TRIALS]
    for injection in budget.within(trials, "trials that shorten", SHORTENED_WITHIN):
        try:
            observation, verdict = sweep.judged(injection)
        except SlowError:
            return
        same = verdict.outcome == found.verdict.outcome
        if verdict.contract == found.verdict.contract and same:
            count += 1
            yield Found(verdict, sweep, injection, observation.said)
        if count >= _MOST_SHOWN or observation.hung:
            return


_ALONE = frozenset({"cancellation", "serialization", "connection", "io", "network"})
