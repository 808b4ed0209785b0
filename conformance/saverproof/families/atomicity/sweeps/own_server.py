"""Injects faults that strike a whole server. Such a server may be used by one saver only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from saverproof.families.atomicity.effort import FaultEffort
from saverproof.families.atomicity.fault_plans import Injection, covering, thinned
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, sort_of
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.server import DEATHS
from saverproof.families.tally import Tally
from saverproof_faults import Fault, Places
from saverproof_faults.places import OF_OWN_SERVERS
from saverproof_faults.servers import ServerUnavailable

_DEATHS_OF_ONE = 4
"""The most deaths of the server in one operation: before it, and around some of its messages."""
_MOST_OF_ONE = 8


def needs_own_server(injection: Injection | None, places: Places) -> bool:
    """Return whether nobody else may use the server that this fault strikes."""
    if injection is None or injection.plan is None:
        return False
    fault = injection.plan.fault
    return fault in OF_OWN_SERVERS or (places.fails_all and fault in places.write_faults)


def like(injection: Injection, places: Places) -> list[Injection]:
    """Return other places of an operation for the same fault."""
    assert injection.plan is not None
    deaths = [*places.server_deaths(), *places.server_deaths(Fault.FAILED_OVER)]
    plans = [*deaths, *places.standstills(), *places.failing_writes()]
    found = [Injection(plan) for plan in plans if plan.fault is injection.plan.fault]
    return thinned(found, _MOST_OF_ONE)


@contextmanager
def own_server(
    bench: FaultBench,
    sweeps: Sequence[FaultSweep],
    effort: FaultEffort,
    tally: Tally,
    *,
    proxied: bool = False,
) -> Iterator[list[tuple[FaultSweep, Injection]]]:
    """Use a server of the saver's own in the block, and yield the faults for it.

    If there can be no such server, there are no faults, and a note says why. With ``proxied``, the
    server is behind a proxy and fails over. All other faults are injected without a proxy, which
    would hide when a server has caught up.
    """
    kind = bench.target.server
    able = [one for one in sweeps if one.clean is None and not one.scenario.is_setup]
    chosen = [*_refusals(able, effort), *_deaths(able, effort), *_standstills(able, effort)]
    if proxied:
        chosen = [*_failovers(able, effort)]
    if not bench.target.durable:
        # What it has stored may go with the server.
        chosen = [pair for pair in chosen if not _kills(pair[1])]
    if kind is None or not chosen:
        yield []
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(bench.own_server(proxied=proxied))
        except ServerUnavailable as reason:
            tally.note(f"{kind.title} was not killed, nor made to refuse all who use it: {reason}")
            chosen = []
        yield chosen


def _kills(injection: Injection) -> bool:
    return injection.plan is not None and injection.plan.fault in DEATHS


def _deaths(
    able: Sequence[FaultSweep], effort: FaultEffort
) -> Iterator[tuple[FaultSweep, Injection]]:
    for sweep in thinned(able, effort.deaths // _DEATHS_OF_ONE):
        first, *others = map(Injection, sweep.counted.places.server_deaths())
        for death in (first, *thinned(others, _DEATHS_OF_ONE - 1)):
            yield sweep, death


def _standstills(
    able: Sequence[FaultSweep], effort: FaultEffort
) -> Iterator[tuple[FaultSweep, Injection]]:
    for sweep in thinned(able, effort.standstills):
        yield sweep, Injection(next(sweep.counted.places.standstills()))


def _failovers(
    able: Sequence[FaultSweep], effort: FaultEffort
) -> Iterator[tuple[FaultSweep, Injection]]:
    """Yield failovers, alternately before an operation and at its last message."""
    for turn, sweep in enumerate(thinned(able, effort.failovers)):
        places = [*sweep.counted.places.server_deaths(Fault.FAILED_OVER)]
        yield sweep, Injection(places[-(turn % 2)])


def _refusals(
    able: Sequence[FaultSweep], effort: FaultEffort
) -> Sequence[tuple[FaultSweep, Injection]]:
    if not effort.refusals:
        return []
    return covering(
        [
            (sweep, Injection(plan))
            for sweep in able
            if sweep.counted.places.fails_all
            for plan in sweep.counted.places.failing_writes()
        ],
        effort.refusals,
        sort_of,
    )
