"""Runs a recorded program and its fault again: an artefact's "program" as a finding gave it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.drivers import declared
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import FaultVerdict
from saverproof.families.atomicity.observation import TrialObservation
from saverproof.families.atomicity.random_programs import RecordedSteps
from saverproof.families.atomicity.random_trial import RandomTrial
from saverproof.families.atomicity.scenarios import FaultScenario
from saverproof.families.atomicity.sweep import swept
from saverproof.families.atomicity.worker import HungError
from saverproof.items import ItemPlan
from saverproof.programs.small import OPERATIONS
from saverproof.steps.codec import from_json
from saverproof.steps.definitions import Program
from saverproof.targets.target import Target


def read(data: object) -> tuple[FaultScenario, Injection | None]:
    """The scenario and the fault of a finding's ``program``.

    Raises:
        ValueError: the data is no such program; the one line says what was found and expected.
    """
    if not isinstance(data, Mapping) or not {"program", "fault"} <= data.keys():
        raise ValueError(f"found {data!r:.60}, expected an object with 'program' and 'fault'")
    program = from_json(data["program"])
    if not program or type(program[-1]) not in OPERATIONS:
        names = ", ".join(kind.__name__ for kind in OPERATIONS)
        raise ValueError(f"program: {len(program)} steps, expected the last to be one of {names}")
    *start, step = program
    fault = data["fault"]
    injection = None if fault is None else Injection.from_data(fault)
    return FaultScenario("as recorded", tuple(start), step), injection


def read_random(data: Mapping[str, Any]) -> tuple[Program, dict[int, Injection]]:
    """The steps and the faults of a finding's ``program`` that random steps have led to.

    Raises:
        ValueError: the data is no such program.
    """
    faults = data["faults"]
    if not isinstance(faults, Mapping) or not all(str(at).isdecimal() for at in faults):
        raise ValueError(f"faults: found {faults!r:.60}, expected an object with positions as keys")
    program = from_json(data.get("program", ()))
    return program, {int(at): Injection.from_data(fault) for at, fault in faults.items()}


def replay(plan: ItemPlan, target: Target, data: Any) -> FaultVerdict:
    """The verdict on the recorded trial; its ``contract`` is None if nothing is wrong any more,
    and its ``outcome`` "not-fired" if the fault found no place.

    Raises:
        ValueError: the data is no recorded program.
        NoCleanRunError: the operation does not work without a fault either.
        OpeningError: the saver could not be opened or closed.
        HungError: a call of a program with several faults never returned.
    """
    drivers, _ = declared(target)
    if isinstance(data, Mapping) and "faults" in data:
        source = RecordedSteps(*read_random(data))
        with FaultBench.opened(plan, target, drivers) as bench:
            violation = bench.on_worker(RandomTrial(bench, source).run)
        return FaultVerdict("held") if violation is None else violation.verdict
    scenario, injection = read(data)
    with FaultBench.opened(plan, target, drivers) as bench, ExitStack() as stack:
        sweep = bench.on_worker(lambda: swept(bench, scenario, stack, also_lasting=False))
        if injection is None:
            return sweep.clean or FaultVerdict("held")
        observation = TrialObservation()
        try:
            bench.on_worker(lambda: sweep.inject(injection, observation))
        except HungError as hung:
            observation.hung = str(hung)
            bench.renew()
        return sweep.verdict(injection, observation)
