"""Runs a recorded program and its fault again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from saverproof.errors import NoCleanRunError
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.atomicity import replaying
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.drivers import declared
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import FaultVerdict
from saverproof.families.atomicity.observation import TrialObservation
from saverproof.families.atomicity.random_programs import RecordedSteps
from saverproof.families.atomicity.random_trial import RandomTrial
from saverproof.families.atomicity.sweep import swept
from saverproof.families.atomicity.worker import HungError
from saverproof.items import ItemPlan
from saverproof.targets.target import Target


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Whether a recorded fault still breaks the contract.

    If the saver has no such place any more, as a mended one may, the other places of the same
    operation are failed by the same sort of fault.

    Raises:
        ValueError: the data is no recorded program.
        OpeningError: the saver could not be opened or closed.
    """
    try:
        if isinstance(data, Mapping) and "faults" in data:
            return _random_again(plan, target, contract, data)
        verdict = replaying.replay(plan, target, data)
        if verdict.outcome == "not-fired":
            return _elsewhere(plan, target, contract, data)
    except (NoCleanRunError, HungError) as problem:
        return unclear(f"the operation does not work without the fault either: {problem}")
    return _answer(verdict, contract)


def _answer(verdict: FaultVerdict, contract: str) -> ReplayAnswer:
    if verdict.contract == contract:
        return ReplayAnswer(Status.FAILING, verdict.summary, verdict.expected, verdict.observed)
    if verdict.contract is not None:
        said = f"the contract holds; the fault breaks {verdict.contract} instead: {verdict.summary}"
        return ReplayAnswer(Status.FIXED, said)
    return ReplayAnswer(Status.FIXED, "the same fault shows no flaw")


def _elsewhere(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    scenario, recorded = replaying.read(data)
    assert recorded is not None, "what is wrong without a fault needs none to fire"
    drivers, _ = declared(target)
    fired = 0
    with FaultBench.opened(plan, target, drivers) as bench, ExitStack() as stack:
        sweep = bench.on_worker(lambda: swept(bench, scenario, stack, also_lasting=False))
        for injection in sweep.injections:
            if (injection.kind, injection.name) != (recorded.kind, recorded.name):
                continue
            observation = _tried(bench, sweep, injection)
            verdict = sweep.verdict(injection, observation)
            fired += verdict.outcome != "not-fired"
            if verdict.contract == contract:
                return _answer(verdict, contract)
    if not fired:
        return unclear("the operation has no place for this fault any more")
    places = "1 other place" if fired == 1 else f"{fired} other places"
    said = f"that place no longer exists; faults at {places} of the operation show no flaw"
    return ReplayAnswer(Status.FIXED, said)


def _tried(bench: FaultBench, sweep: Any, injection: Injection) -> TrialObservation:
    observation = TrialObservation()
    try:
        bench.on_worker(lambda: sweep.inject(injection, observation))
    except HungError as hung:
        observation.hung = str(hung)
        bench.renew()
    return observation


def _random_again(
    plan: ItemPlan, target: Target, contract: str, data: Mapping[str, Any]
) -> ReplayAnswer:
    program, faults = replaying.read_random(data)
    drivers, _ = declared(target)
    with FaultBench.opened(plan, target, drivers) as bench:
        random_trial = RandomTrial(bench, RecordedSteps(program, faults))
        violation = bench.on_worker(random_trial.run)
    if violation is not None:
        return _answer(violation.verdict, contract)
    if faults and not random_trial.injected:
        return unclear("none of the recorded faults fired")
    return ReplayAnswer(Status.FIXED, "the same program with the same faults shows no flaw")
