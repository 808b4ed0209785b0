"""Runs a recorded program and its fault again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from saverproof.families.answer import Answer, Status, unclear
from saverproof.families.atomicity import replaying
from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.drivers import declared
from saverproof.families.atomicity.fault_plans import Attack
from saverproof.families.atomicity.judging import Verdict
from saverproof.families.atomicity.observation import Sight
from saverproof.families.atomicity.prepared_store import NoCleanRunError
from saverproof.families.atomicity.random_programs import Recorded
from saverproof.families.atomicity.random_trial import Walk
from saverproof.families.atomicity.sweep import swept
from saverproof.families.atomicity.worker import HungError
from saverproof.items import Plan
from saverproof.targets.target import Target


def replay(plan: Plan, target: Target, contract: str, data: Any) -> Answer:
    """Whether a recorded fault still breaks the contract.

    If the saver has no such place any more, as a mended one may, the other places of the same
    operation are struck by the same sort of fault.

    Raises:
        ValueError: the data is no recorded program.
        OpeningError: the saver could not be opened or closed.
    """
    try:
        if isinstance(data, Mapping) and "faults" in data:
            return _walked_again(plan, target, contract, data)
        verdict = replaying.replay(plan, target, data)
        if verdict.outcome == "not-fired":
            return _elsewhere(plan, target, contract, data)
    except (NoCleanRunError, HungError) as problem:
        return unclear(f"the operation does not work without the fault either: {problem}")
    return _answer(verdict, contract)


def _answer(verdict: Verdict, contract: str) -> Answer:
    if verdict.contract == contract:
        return Answer(Status.FAILING, verdict.summary, verdict.expected, verdict.observed)
    if verdict.contract is not None:
        said = f"the fault breaks {verdict.contract} now: {verdict.summary}"
        return Answer(Status.FIXED, said)
    return Answer(Status.FIXED, "the same fault leaves everything as it should be")


def _elsewhere(plan: Plan, target: Target, contract: str, data: Any) -> Answer:
    scenario, recorded = replaying.read(data)
    assert recorded is not None, "what is wrong without a fault needs none to fire"
    drivers, _ = declared(target)
    struck = 0
    with Bench.opened(plan, target, drivers) as bench, ExitStack() as stack:
        sweep = bench.on_worker(lambda: swept(bench, scenario, stack, also_lasting=False))
        for attack in sweep.attacks:
            if (attack.kind, attack.name) != (recorded.kind, recorded.name):
                continue
            sight = _struck(bench, sweep, attack)
            verdict = sweep.verdict(attack, sight)
            struck += verdict.outcome != "not-fired"
            if verdict.contract == contract:
                return _answer(verdict, contract)
    if not struck:
        return unclear("the fault finds no place to strike in the operation any more")
    places = "1 other place" if struck == 1 else f"{struck} other places"
    return Answer(Status.FIXED, f"the place is gone, and {places} of the operation show nothing")


def _struck(bench: Bench, sweep: Any, attack: Attack) -> Sight:
    sight = Sight()
    try:
        bench.on_worker(lambda: sweep.strike(attack, sight))
    except HungError as hung:
        sight.hung = str(hung)
        bench.renew()
    return sight


def _walked_again(plan: Plan, target: Target, contract: str, data: Mapping[str, Any]) -> Answer:
    program, faults = replaying.read_walk(data)
    drivers, _ = declared(target)
    with Bench.opened(plan, target, drivers) as bench:
        walk = Walk(bench, Recorded(program, faults))
        stumble = bench.on_worker(walk.run)
    if stumble is not None:
        return _answer(stumble.verdict, contract)
    if faults and not walk.injected:
        return unclear("none of the recorded faults found a place to strike")
    return Answer(Status.FIXED, "the same program with the same faults goes well")
