"""What is left of a program that shows a wrong saver's flaw: nothing can be spared or simplified.

What "simpler" means is said here once more, field by field, without the shrinker's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.conformance.selftest_support import api_of, family_of, judged_by_programs, target_of
from tests.wrong_savers import WrongSaver

from saverproof.families.machines.explaining.trials import Trials
from saverproof.programs.rewriting.shrinking import Attempt, shrink
from saverproof.programs.steps.definitions import Program, Put, PutWrites, Step
from saverproof.programs.steps.describing import describe
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.programs.weights import GENERAL
from saverproof.savers.targets.event_loop import EventLoop

FAMILIES = ("channels", "identity", "isolation", "ordering", "pending-writes", "upsert")
SAVERS = [
    wrong
    for wrong in judged_by_programs()
    if family_of(wrong) in FAMILIES
    and api_of(wrong, family_of(wrong)) == "sync"
    # One that throws dice does not show the same again.
    and wrong.name != "random-versions"
]
THEME = Theme("general", GENERAL)
LARGE = 99_999


def trials_of(wrong: WrongSaver, folder: Path, loop: EventLoop) -> Trials:
    """Where programs of a wrong saver are run."""
    return Trials(target_of(wrong), folder, loop, ("sync",))


def attempt_of(trials: Trials, contract: str) -> Attempt:
    """Runs a program as far as its first breach of a contract."""

    def attempt(candidate: Program) -> Program | None:
        run = trials.replay(candidate, until=contract)
        breach = next((b for b in run.breaches if b.contract == contract and not b.diverged), None)
        return None if breach is None else run.program[: breach.position]

    return attempt


def simpler_values(name: str, value: Any) -> Iterator[Any]:
    """Simpler values of one field."""
    if name == "thread" and value != "a":
        yield "a"
    if name == "namespace" and value:
        yield ""
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            yield value[:place] + value[place + 1 :]
            if isinstance(item, tuple) and isinstance(item[1], Value) and not small(item[1]):
                plain = (item[0], Value("integer", LARGE))
                yield (*value[:place], plain, *value[place + 1 :])
    if isinstance(value, Mapping):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)


def small(value: Value) -> bool:
    """Whether a value is as plain as can be."""
    return value.kind == "integer" and isinstance(value.seed, int) and 0 < value.seed < 100


def simpler_steps(step: Any) -> Iterator[Step]:
    """The step with one field simpler."""
    for field in fields(step):
        value = getattr(step, field.name)
        if field.default is not MISSING and value != field.default:
            yield replace(step, **{field.name: field.default})
        yield from (replace(step, **{field.name: v}) for v in simpler_values(field.name, value))


def plainer_tasks(program: Program) -> Iterator[Program]:
    """The program with one task under a lower number that no other has."""
    batches = [step for step in program if isinstance(step, PutWrites)]
    taken = {step.task for step in batches}
    spare = next(number for number in range(1, 99) if number not in taken)
    for task in taken:
        if task == 0 or spare < task:
            yield tuple(
                replace(step, task=spare)
                if isinstance(step, PutWrites) and step.task == task
                else step
                for step in program
            )


def simpler_programs(program: Program) -> Iterator[Program]:
    """The program with one step less, one field simpler, or one task plainer."""
    yield from plainer_tasks(program)
    for place, step in enumerate(program):
        yield program[:place] + program[place + 1 :]
        for simpler in simpler_steps(step):
            yield (*program[:place], simpler, *program[place + 1 :])


@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(wrong=st.sampled_from(SAVERS), seed=st.integers(0, 1_000))
def test_nothing_of_a_shrunk_program_can_be_left_out_or_simplified(
    wrong: WrongSaver, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with EventLoop() as loop:
        trials = trials_of(wrong, tmp_path_factory.mktemp("shrinking"), loop)
        made = trials.make(THEME, Random(seed))
        assume(made.breaches)
        contract = made.breaches[0].contract
        attempt = attempt_of(trials, contract)
        shown = attempt(made.program)
        assume(shown)
        assert shown is not None
        short = shrink(shown, attempt)
        assert attempt(short) == short
        for simpler in simpler_programs(short):
            told = "\n".join(map(describe, simpler))
            assert attempt(simpler) is None, f"{wrong.name} shows {contract} in simpler:\n{told}"


def test_the_simpler_programs_of_this_test_are_simpler() -> None:
    step = PutWrites("b", "child", 1, 2, (("notes", Value("text", "x")),), path="~p")
    simpler = list(simpler_programs((Put("a", "", 1), step)))
    assert len(simpler) == len({repr(program) for program in simpler})
    assert (Put("a", "", 1), replace(step, path="")) in simpler
    assert (Put("a", "", 1), replace(step, task=1)) in simpler
    assert (step,) in simpler
