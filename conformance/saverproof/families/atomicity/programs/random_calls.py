"""Makes one call of a random program, under its fault if it has one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from saverproof.families.atomicity.fault_plans import BELOW, Injection
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.injection import cancel
from saverproof.families.atomicity.trials.observation import TrialObservation
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof_faults import Fault, Plan, count_awaits

Operation = Callable[[], object]


def undisturbed(bench: FaultBench, operation: Operation) -> TrialObservation:
    """Make the call without a fault, and wait for the work that it has started."""
    seen = TrialObservation()
    _make(bench, operation, seen)
    return seen


def counted(
    bench: FaultBench, operation: Operation, awaited: Callable[[], Callable[[], Awaitable[object]]]
) -> tuple[TrialObservation, tuple[Plan, ...]]:
    """Make the call without a fault. Return what was seen, and every cancellation that can strike
    it; ``awaited`` makes the same call as an awaitable.
    """
    if bench.api != "async":
        return undisturbed(bench, operation), ()
    seen = TrialObservation()
    clean = bench.loop.run(count_awaits(awaited()))
    seen.ended(clean.error)
    bench.loop.run(bench.injector.drain())
    return seen, clean.plans()


def failed(
    bench: FaultBench,
    operation: Operation,
    awaited: Callable[[], Callable[[], Awaitable[object]]],
    injection: Injection,
) -> TrialObservation:
    """Make the call under a fault; ``awaited`` makes the same call as an awaitable."""
    seen, plan = TrialObservation(), injection.plan
    if injection.lost:
        for losing in bench.losing:
            losing.lose()
        _make(bench, operation, seen)
        seen.fired = not seen.returned
    elif plan is None:
        _make(bench, operation, seen)
    elif plan.fault is Fault.CANCEL:
        cancel(bench, awaited(), plan, seen)
    elif plan.fault in BELOW:
        storage = bench.storage(plan)
        with storage.following(plan):
            _make(bench, operation, seen)
        seen.fired = storage.has_fired()
    else:
        with bench.armed(plan) as shot:
            _make(bench, operation, seen)
        seen.fired = shot.fired > 0
    return seen


def _make(bench: FaultBench, operation: Operation, seen: TrialObservation) -> None:
    seen.ended(call_quietly(operation))
    bench.loop.run(bench.injector.drain())
