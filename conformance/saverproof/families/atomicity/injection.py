"""The operation of a trial under a fault, up to where its work is settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from saverproof.errors import describe
from saverproof.execution.settled_calls import awaiting
from saverproof.families.atomicity.commits import CommitsBefore
from saverproof.families.atomicity.disk import FAILURES
from saverproof.families.atomicity.fault_plans import Attack
from saverproof.families.atomicity.observation import Ending
from saverproof.families.atomicity.serializer import CountingSerializer
from saverproof.families.atomicity.trial import Trial
from saverproof.families.atomicity.worker import call_quietly
from saverproof_faults import Ending as AwaitEnding
from saverproof_faults import Fault, Plan

ENDINGS = {
    AwaitEnding.RETURNED: Ending.RETURNED,
    AwaitEnding.RAISED: Ending.RAISED,
    AwaitEnding.CANCELLED: Ending.CANCELLED,
}


def strike(trial: Trial, attack: Attack) -> None:
    """Make the operation, and note how it ended and whether the fault fired."""
    if attack.lost:
        _lose(trial)
    elif attack.plan is None:
        _refuse(trial, attack.value)
    elif attack.plan.fault is Fault.CANCEL:
        _cancel(trial, attack.plan)
    elif attack.plan.fault in FAILURES:
        _fail_io(trial, attack.plan)
    else:
        _arm(trial, attack.plan, attack.also)


def _operate(trial: Trial) -> None:
    trial.ended(call_quietly(trial.operation))
    trial.settle()


def _fail_io(trial: Trial, plan: Plan) -> None:
    disk = trial.bench.disk
    assert disk is not None
    with disk.failing(plan):
        _operate(trial)
    trial.sight.fired = bool(disk.fired)


def _arm(trial: Trial, plan: Plan, also: Plan | None) -> None:
    injector, sight = trial.bench.injector, trial.sight
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
    sight.fired, sight.note, sight.commits = shot.fired > 0, shot.note, counter.commits


def _cancel(trial: Trial, plan: Plan) -> None:
    bench = trial.bench
    bench.worker.say(f"{trial.scenario.operation}, cancelled")
    bench.calls += 1
    operation = awaiting(trial.driver, trial.stage.script.operation)
    awaited = bench.loop.run(bench.injector.cancel(operation, plan))
    trial.sight.fired = awaited.fired
    trial.sight.ending = ENDINGS[awaited.ending]
    trial.sight.error = "" if awaited.error is None else describe(awaited.error)


def _lose(trial: Trial) -> None:
    for driver in trial.bench.losing:
        driver.lose()
    trial.sight.fired = True
    _operate(trial)


def _refuse(trial: Trial, value: int) -> None:
    with serializing(trial.driver.saver, value) as serializer:
        _operate(trial)
    trial.sight.fired = serializer is not None and serializer.fired


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
