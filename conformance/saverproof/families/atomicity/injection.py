"""The operation of a trial under a fault, up to where its work is settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from saverproof.errors import describe
from saverproof.execution.settled_calls import awaiting
from saverproof.families.atomicity.commits import CommitsBefore
from saverproof.families.atomicity.disk import FAILURES
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.observation import OperationEnding
from saverproof.families.atomicity.serializer import CountingSerializer
from saverproof.families.atomicity.trial import FaultTrial
from saverproof.families.atomicity.worker import call_quietly
from saverproof_faults import Ending as AwaitEnding
from saverproof_faults import Fault, Plan

ENDINGS = {
    AwaitEnding.RETURNED: OperationEnding.RETURNED,
    AwaitEnding.RAISED: OperationEnding.RAISED,
    AwaitEnding.CANCELLED: OperationEnding.CANCELLED,
}


def inject(trial: FaultTrial, injection: Injection) -> None:
    """Make the operation, and note how it ended and whether the fault fired."""
    if injection.lost:
        _lose(trial)
    elif injection.plan is None:
        _refuse(trial, injection.value)
    elif injection.plan.fault is Fault.CANCEL:
        _cancel(trial, injection.plan)
    elif injection.plan.fault in FAILURES:
        _fail_io(trial, injection.plan)
    else:
        _arm(trial, injection.plan, injection.also)


def _operate(trial: FaultTrial) -> None:
    trial.ended(call_quietly(trial.operation))
    trial.settle()


def _fail_io(trial: FaultTrial, plan: Plan) -> None:
    disk = trial.bench.disk
    assert disk is not None
    with disk.failing(plan):
        _operate(trial)
    trial.observation.fired = bool(disk.fired)


def _arm(trial: FaultTrial, plan: Plan, also: Plan | None) -> None:
    injector, observation = trial.bench.injector, trial.observation
    shot, *_ = injector.arm(*((plan,) if also is None else (plan, also)))
    watch = None if injector.engine_unavailable else injector.watch
    counter = CommitsBefore(lambda: shot.fired > 0)
    if watch is not None:
        watch.listen(counter)
    try:
        _operate(trial)
    finally:
        # A trial that was given up must not heal what the next one has armed.
        if not trial.bench.worker.abandoned:
            injector.heal()
            if watch is not None:
                watch.unlisten(counter)
    observation.fired, observation.note, observation.commits = (
        shot.fired > 0,
        shot.note,
        counter.commits,
    )


def _cancel(trial: FaultTrial, plan: Plan) -> None:
    bench = trial.bench
    bench.worker.say(f"{trial.scenario.operation}, cancelled")
    bench.calls += 1
    operation = awaiting(trial.driver, trial.store.settled.operation)
    awaited = bench.loop.run(bench.injector.cancel(operation, plan))
    trial.observation.fired = awaited.fired
    trial.observation.ending = ENDINGS[awaited.ending]
    trial.observation.error = "" if awaited.error is None else describe(awaited.error)


def _lose(trial: FaultTrial) -> None:
    for driver in trial.bench.losing:
        driver.lose()
    trial.observation.fired = True
    _operate(trial)


def _refuse(trial: FaultTrial, value: int) -> None:
    with serializing(trial.driver.saver, value) as serializer:
        _operate(trial)
    trial.observation.fired = serializer is not None and serializer.fired


@contextmanager
def serializing(saver: Any, refuses: int) -> Iterator[CountingSerializer | None]:
    """Count what the saver serializes meanwhile; None if it lets nobody exchange its serializer."""
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
