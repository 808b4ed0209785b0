"""Runs a recorded program and its fault again: the "program" of a finding, from an artefact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from saverproof.errors import NoCleanRunError
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.neighbours.neighbour_trials import replay_meeting
from saverproof.families.atomicity.programs.random_programs import RecordedSteps
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.reads.failed_reads import is_recorded_read, replay_read
from saverproof.families.atomicity.scenarios import FaultScenario
from saverproof.families.atomicity.sweeps.own_server import needs_own_server
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, swept
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.worker import HungError, SlowError
from saverproof.families.atomicity.verdicts import CANCELLED, FaultVerdict
from saverproof.families.drivers import declared
from saverproof.families.items import ItemPlan
from saverproof.programs.small import OPERATIONS
from saverproof.programs.steps.codec import from_json
from saverproof.programs.steps.definitions import Program
from saverproof.savers.targets.target import Target
from saverproof_faults import Fault
from saverproof_faults.servers import ServerUnavailable


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Replay a recorded fault. Return whether it still breaks the contract.

    If the saver no longer has the recorded place, for instance because it was mended, the same sort
    of fault is tried at the other places of the operation.

    Raises:
        ValueError: the data is no recorded program.
        OpeningError: the saver could not be opened or closed.
    """
    drivers, _ = declared(target)
    try:
        if isinstance(data, Mapping) and "neighbour" in data:
            with FaultBench.opened(plan, target, drivers) as bench:
                return _settled(bench, contract, lambda: replay_meeting(bench, data, contract))
        if isinstance(data, Mapping) and is_recorded_read(data):
            with FaultBench.opened(plan, target, drivers) as bench:
                return replay_read(bench, data)
        if isinstance(data, Mapping) and "faults" in data:
            program, faults = read_random(data)
            with FaultBench.opened(plan, target, drivers) as bench:
                return _settled(
                    bench, contract, lambda: _random_again(bench, program, faults, contract)
                )
        scenario, injection = _read(data)
        with FaultBench.opened(plan, target, drivers) as bench, ExitStack() as stack:
            sweep = bench.on_worker(lambda: swept(bench, scenario, stack, also_lasting=False))
            if needs_own_server(injection, sweep.counted.places):
                over = injection is not None and injection.name == Fault.FAILED_OVER
                stack.enter_context(bench.own_server(proxied=over))
            return _again(sweep, injection, contract)
    except (NoCleanRunError, HungError) as problem:
        return unclear(f"the operation does not work without the fault either: {problem}")
    except SlowError as slow:
        return unclear(f"a call took too long to tell: {slow}")
    except ServerUnavailable as reason:
        return unclear(f"the server cannot be killed: {reason}")


def _read(data: object) -> tuple[FaultScenario, Injection | None]:
    """Return the scenario and the fault of a finding's ``program``."""
    if not isinstance(data, Mapping) or not {"program", "fault"} <= data.keys():
        raise ValueError(f"found {data!r:.60}, expected an object with 'program' and 'fault'")
    program = from_json(data["program"])
    if not program or type(program[-1]) not in OPERATIONS:
        names = ", ".join(kind.__name__ for kind in OPERATIONS)
        raise ValueError(f"program: {len(program)} steps, expected the last to be one of {names}")
    *start, step = program
    fault = data["fault"]
    injection = None if fault is None else Injection.from_data(fault)
    closed = bool(data.get("closed"))
    return FaultScenario("as recorded", tuple(start), step, closed=closed), injection


def read_random(data: Mapping[str, Any]) -> tuple[Program, dict[int, Injection]]:
    """Return the steps and the faults of a finding's ``program`` that comes from a random
    program.
    """
    faults = data["faults"]
    if not isinstance(faults, Mapping) or not all(str(at).isdecimal() for at in faults):
        raise ValueError(f"faults: found {faults!r:.60}, expected an object with positions as keys")
    program = from_json(data.get("program", ()))
    return program, {int(at): Injection.from_data(fault) for at, fault in faults.items()}


def _answer(verdict: FaultVerdict, contract: str) -> ReplayAnswer:
    if verdict.contract == contract:
        return ReplayAnswer(Status.FAILING, verdict.summary, verdict.expected, verdict.observed)
    if verdict.contract is not None:
        said = f"the contract holds; the fault breaks {verdict.contract} instead: {verdict.summary}"
        return ReplayAnswer(Status.FIXED, said)
    return ReplayAnswer(Status.FIXED, "the same fault shows no flaw")


def _again(sweep: FaultSweep, injection: Injection | None, contract: str) -> ReplayAnswer:
    if injection is None:
        return _answer(sweep.clean or FaultVerdict("held"), contract)
    _, verdict = sweep.judged(injection)
    if verdict.outcome == "not-fired":
        return _elsewhere(sweep, injection, contract)
    return _answer(verdict, contract)


def _elsewhere(sweep: FaultSweep, recorded: Injection, contract: str) -> ReplayAnswer:
    fired = 0
    for injection in sweep.injections:
        if (injection.kind, injection.name) != (recorded.kind, recorded.name):
            continue
        _, verdict = sweep.judged(injection)
        fired += verdict.outcome != "not-fired"
        if verdict.contract == contract:
            return _answer(verdict, contract)
    if not fired:
        return unclear("the operation has no place for this fault any more")
    places = "1 other place" if fired == 1 else f"{fired} other places"
    said = f"that place no longer exists; faults at {places} of the operation show no flaw"
    return ReplayAnswer(Status.FIXED, said)


def _settled(bench: FaultBench, contract: str, again: Callable[[], ReplayAnswer]) -> ReplayAnswer:
    """Return the answer, or that of a replay with time for a service elsewhere to end what it was
    sent, if that time makes the difference (see ``FaultSweep.judged``).
    """
    answer = again()
    if contract != CANCELLED or answer.status is not Status.FAILING or not bench.linger():
        return answer
    waited = again()
    bench.hurry()
    proved = waited.status is Status.FIXED and again().status is Status.FAILING
    return waited if proved else answer


def _random_again(
    bench: FaultBench, program: Program, faults: Mapping[int, Injection], contract: str
) -> ReplayAnswer:
    random_trial = RandomTrial(bench, RecordedSteps(program, faults))
    try:
        violation = bench.on_worker(random_trial.run)
    except NoCleanRunError as problem:
        return unclear(str(problem))
    if violation is not None:
        return _answer(violation.verdict, contract)
    if faults and not random_trial.injected:
        return unclear("none of the recorded faults fired")
    return ReplayAnswer(Status.FIXED, "the same program with the same faults shows no flaw")
