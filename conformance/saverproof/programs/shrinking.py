"""Shortens programs: fewer steps first, then simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from saverproof.programs.steps import (
    PLAIN,
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutWrites,
    Step,
)
from saverproof.values import Value

Attempt = Callable[[Program], Program | None]
"""Runs a candidate: the steps of it that were legal, if it still shows the flaw, or None."""


def shrink(program: Program, attempt: Attempt, most_steps: int = 6_000) -> Program:
    """A program that still shows the flaw and from which nothing can be left out.

    Candidates of at most ``most_steps`` steps together are tried; then the shortest so far is given.
    """
    budget = [most_steps]

    def tried(candidate: Program) -> Program | None:
        if budget[0] <= 0 or not candidate:
            return None
        budget[0] -= len(candidate) + 1
        return attempt(candidate)

    while budget[0] > 0:
        shorter = _without_chunks(program, tried)
        simpler = _with_simpler_steps(shorter, tried)
        if simpler == program:
            break
        program = simpler
    return program


def _without_chunks(program: Program, tried: Attempt) -> Program:
    size = max(len(program) // 2, 1)
    while size:
        start = len(program)
        while start > 0:
            start = max(start - size, 0)
            candidate = program[:start] + program[start + size :]
            kept = tried(candidate) if len(candidate) < len(program) else None
            if kept is not None:
                program = kept
            start = min(start, len(program))
        size //= 2
    return program


def _with_simpler_steps(program: Program, tried: Attempt) -> Program:
    place = 0
    while place < len(program):
        for step in simpler(program[place]):
            kept = tried((*program[:place], step, *program[place + 1 :]))
            if kept is not None and len(kept) == len(program):
                program = kept
                break
        else:
            place += 1
    return program


def simpler(step: Step) -> Iterator[Step]:
    """Simpler forms of a step, each simpler in one way."""
    match step:
        case Put():
            yield from _simpler_put(step)
        case PutWrites():
            yield from _simpler_writes(step)
        case ListTuples():
            for name in ("filter", "before", "limit", "number", "namespace"):
                if getattr(step, name) is not None:
                    yield replace(step, **{name: None})
            if step.extras != PLAIN:
                yield replace(step, extras=PLAIN)
        case GetTuple():
            if step.extras != PLAIN:
                yield replace(step, extras=PLAIN)


def _simpler_put(step: Put) -> Iterator[Put]:
    if step.parent is not None and step.copy_of is None:
        yield replace(step, parent=None)
    for number in range(len(step.changes)):
        yield replace(step, changes=step.changes[:number] + step.changes[number + 1 :])
    for number, (name, value) in enumerate(step.changes):
        if value is not None and value not in _SIMPLE:
            for plain in _plainer(value):
                changed = (name, plain)
                changes = (*step.changes[:number], changed, *step.changes[number + 1 :])
                yield replace(step, changes=changes)
    for key in step.metadata or {}:
        kept = {name: value for name, value in (step.metadata or {}).items() if name != key}
        yield replace(step, metadata=kept)
    if step.extras != PLAIN:
        yield replace(step, extras=PLAIN)
    if step.format is not None:
        yield replace(step, format=None)
    if step.fields != "usual":
        yield replace(step, fields="usual")
    if step.mutate_inputs:
        yield replace(step, mutate_inputs=False)
    if step.omit_unchanged:
        yield replace(step, omit_unchanged=False)
    if step.node != "agent":
        yield replace(step, node="agent")


def _simpler_writes(step: PutWrites) -> Iterator[PutWrites]:
    for size in (len(step.writes) // 2, 1):
        for number in range(0, len(step.writes), size or 1):
            kept = step.writes[:number] + step.writes[number + size :]
            if len(kept) < len(step.writes):
                yield replace(step, writes=kept)
    for number, (name, value) in enumerate(step.writes):
        if value not in _SIMPLE:
            for plain in _plainer(value):
                writes = (*step.writes[:number], (name, plain), *step.writes[number + 1 :])
                yield replace(step, writes=writes)
    if step.extras != PLAIN:
        yield replace(step, extras=PLAIN)
    if step.mutate_inputs:
        yield replace(step, mutate_inputs=False)


_SIMPLE = tuple(Value("integer", n) for n in range(10))


def _plainer(value: Value) -> Iterator[Value]:
    """Plainer values; small integers that mostly differ where the values did."""
    digits = sum(map(ord, f"{value.kind}{value.seed}"))
    yield Value("integer", digits % 10)
    yield Value("integer", (digits + 1) % 10)
