"""Makes a trial's operation under a fault, and waits until all work of the saver is done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from saverproof.families.atomicity.fault_plans import BELOW, Injection
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.savers.execution.settled_calls import awaiting
from saverproof_faults import Awaited, Fault, Plan
from saverproof_faults import Ending as AwaitEnding

_ENDINGS = {
    AwaitEnding.RETURNED: OperationEnding.RETURNED,
    AwaitEnding.RAISED: OperationEnding.RAISED,
    AwaitEnding.CANCELLED: OperationEnding.CANCELLED,
}


def cancel(bench: FaultBench, operation: Any, plan: Plan, observation: TrialObservation) -> object:
    """Cancel a coroutine at a place, record what it did, and return its answer."""
    awaited = bench.loop.run(_cancelled(bench, operation, plan))
    observation.ended(awaited.error)
    observation.fired, observation.ending = awaited.fired, _ENDINGS[awaited.ending]
    return awaited.value


async def _cancelled(bench: FaultBench, operation: Any, plan: Plan) -> Awaited:
    awaited = await bench.injector.cancel(operation, plan)
    await asyncio.sleep(bench.lingering_s)
    return awaited


def inject(trial: FaultTrial, injection: Injection) -> None:
    """Make the operation, and record how it ended and whether the fault fired."""
    trial.observation.ending = OperationEnding.UNANSWERED
    if injection.lost:
        _lose(trial)
    elif injection.plan is None:
        _refuse(trial, injection.value)
    elif injection.plan.fault is Fault.CANCEL:
        _cancel(trial, injection.plan)
    elif injection.plan.fault in BELOW:
        _fail_io(trial, injection.plan)
    else:
        _arm(trial, injection.plan, injection.also)


def _operate(trial: FaultTrial) -> None:
    trial.observation.ended(call_quietly(trial.operation))
    trial.settle()


def _fail_io(trial: FaultTrial, plan: Plan) -> None:
    storage = trial.bench.storage(plan)
    with storage.following(plan):
        trial.observation.has_fired = storage.has_fired
        _operate(trial)
    trial.observation.fired = storage.has_fired()


def _arm(trial: FaultTrial, plan: Plan, also: Plan | None) -> None:
    observation = trial.observation
    with trial.bench.armed(*((plan,) if also is None else (plan, also))) as shot:
        observation.has_fired = lambda: shot.fired > 0
        _operate(trial)
    observation.fired, observation.note = shot.fired > 0, shot.note


def _cancel(trial: FaultTrial, plan: Plan) -> None:
    bench = trial.bench
    bench.worker.say(f"{trial.scenario.operation}, cancelled")
    bench.calls += 1
    operation = awaiting(trial.driver, trial.store.settled.operation)
    trial.answer = cancel(bench, operation, plan, trial.observation)


def _lose(trial: FaultTrial) -> None:
    for driver in trial.bench.losing:
        driver.lose()
    trial.observation.fired = True
    _operate(trial)


def _refuse(trial: FaultTrial, value: int) -> None:
    with serializing(trial.driver.saver, value) as serializer:
        trial.observation.has_fired = lambda: serializer is not None and serializer.fired
        _operate(trial)
    trial.observation.fired = trial.observation.has_fired()


@contextmanager
def serializing(saver: Any, refuses: int) -> Iterator[CountingSerializer | None]:
    """Count what the saver serializes in the block. Yield None if the saver's serializer cannot be
    replaced.
    """
    original = getattr(saver, "serde", None)
    counting = CountingSerializer(original, refuses)
    try:
        saver.serde = counting
    except AttributeError:
        yield None
        return
    try:
        yield counting
    finally:
        with suppress(AttributeError):
            saver.serde = original


class RefusedValueError(TypeError):
    """The error that a serializer raises for a value that it cannot take."""


class CountingSerializer:
    """A serializer around another one. It counts values, and refuses the one whose number is
    ``refuses``.
    """

    def __init__(self, inner: Any, refuses: int = 0) -> None:
        self._inner = inner
        self._refuses = refuses
        self.count = 0

    @property
    def fired(self) -> bool:
        """True if it has refused a value."""
        return 0 < self._refuses <= self.count

    def dumps_typed(self, value: Any) -> Any:
        """Serialize a value, or refuse it."""
        self.count += 1
        if self.count == self._refuses:
            raise RefusedValueError("refused on purpose: this value cannot be serialized")
        return self._inner.dumps_typed(value)

    def loads_typed(self, data: Any) -> Any:
        """Deserialize a value."""
        return self._inner.loads_typed(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
