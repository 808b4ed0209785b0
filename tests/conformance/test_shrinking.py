"""Shrinking: the shortest program that still shows a flaw, found with few attempts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saverproof.programs.generating import next_step
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.rewriting.shrinking import Attempt, shrink
from saverproof.programs.steps.definitions import GetTuple, Program, Put, PutWrites, Step
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.programs.weights import GENERAL

THEME = Theme("general", GENERAL)
Flaw = Callable[[Program], bool]


def program(seed: int, length: int = 40) -> Program:
    """A program of the general theme."""
    model, choose = Model(), Random(seed)
    steps: list[Step] = []
    for _ in range(length):
        step = next_step(model, choose, THEME)
        model.apply(step)
        steps.append(step)
    return tuple(steps)


def attempt_of(flaw: Flaw, tried: list[Program] | None = None) -> Attempt:
    """Leaves illegal steps out, and says what is left if it has the flaw."""

    def attempt(candidate: Program) -> Program | None:
        model, legal = Model(), list[Step]()
        for step in candidate:
            if objection(step, model) is None:
                model.apply(step)
                legal.append(step)
        if tried is not None:
            tried.append(candidate)
        return tuple(legal) if flaw(tuple(legal)) else None

    return attempt


def retried(program: Program) -> bool:
    """Two batches of one task on one checkpoint, the second of more than one write."""
    batches = [step for step in program if isinstance(step, PutWrites)]
    return any(
        (one.thread, one.namespace, one.number, one.task)
        == (two.thread, two.namespace, two.number, two.task)
        and len(two.writes) > 1
        for place, one in enumerate(batches)
        for two in batches[place + 1 :]
    )


def a_fork(program: Program) -> bool:
    """Two checkpoints with one parent."""
    parents = [
        (step.thread, step.namespace, step.parent)
        for step in program
        if isinstance(step, Put) and step.parent is not None
    ]
    return len(parents) > len(set(parents))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("flaw", "steps"), [(retried, 2), (a_fork, 2)])
def test_only_what_shows_the_flaw_is_left(flaw: Flaw, steps: int, seed: int) -> None:
    whole = program(seed, 80)
    assert flaw(whole), "choose another seed"
    short = shrink(whole, attempt_of(flaw))
    assert flaw(short)
    assert len(short) == steps


@given(seed=st.integers(0, 10_000))
def test_no_step_of_what_is_left_can_go(seed: int) -> None:
    whole = program(seed)
    attempt = attempt_of(a_fork)
    if not a_fork(whole):
        return
    short = shrink(whole, attempt)
    assert all(attempt(short[:n] + short[n + 1 :]) is None for n in range(len(short)))


def test_names_values_and_numbers_become_plain() -> None:
    put = Put("weird/thread", "odd|ns", 77, metadata={"source": "loop", "step": 3})
    writes = (("notes", Value("text", "long text")), ("count", Value("float", 3)))
    batch = PutWrites("weird/thread", "odd|ns", 77, 2, writes, path="~p")
    short = shrink((put, batch), attempt_of(lambda p: any(isinstance(s, PutWrites) for s in p)))
    assert short == (PutWrites("a", "", 1, 1, ()),)


def retried_with_writes(program: Program) -> bool:
    """A batch of writes whose first one replaces another."""
    batches = [step for step in program if isinstance(step, PutWrites)]
    return retried(program) and all(step.writes for step in batches)


def test_a_path_that_the_flaw_does_not_need_goes_from_all_batches_of_its_task() -> None:
    one, two = (("a", Value("integer", 1)),), (("a", Value("integer", 1)), ("b", Value("none", 0)))
    given = (
        Put("a", "", 1),
        *(PutWrites("a", "", 1, 1, writes, path="~p, tools") for writes in (one, two)),
    )
    left = shrink(given, attempt_of(retried_with_writes))
    assert [step.path for step in left if isinstance(step, PutWrites)] == ["", ""]


def test_equal_steps_stay_equal() -> None:
    read = GetTuple("a", "", 5)
    put = Put("a", "", 5, metadata={"source": "loop"})

    def twice(program: Program) -> bool:
        puts = [step for step in program if isinstance(step, Put)]
        return len(puts) != len(set(map(repr, puts)))

    short = shrink((put, read, put), attempt_of(twice))
    assert short == (Put("a", "", 1), Put("a", "", 1))


def test_what_nothing_can_be_left_out_of_stays() -> None:
    whole = program(3, 20)
    assert shrink(whole, lambda _: None) == whole


def test_the_steps_that_are_tried_are_limited() -> None:
    tried: list[Program] = []
    shrink(program(1, 60), attempt_of(retried, tried), most_steps=300)
    assert sum(len(candidate) + 1 for candidate in tried) <= 300 + 61
