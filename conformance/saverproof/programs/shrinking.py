"""Shortens programs: fewer steps first, then simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from saverproof.programs.rewriting import plain_namespaces, plain_threads, renumbered
from saverproof.steps.definitions import (
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

    Candidates of ``most_steps`` steps together are tried; then the shortest so far is given.
    """
    shrinking = _Shrinking(attempt, most_steps)
    program = shrinking.to_the_last_place(program)
    program = shrinking.without_chunks(program, len(program) // 2)
    while shrinking.steps_left > 0:
        simpler_program = shrinking.with_simpler_steps(program)
        if simpler_program == program:
            break
        program = shrinking.without_chunks(simpler_program, 1)
    return shrinking.with_plain_names(program)


@dataclass(slots=True)
class _Shrinking:
    """The attempts at one program, until the steps that may be tried run out."""

    attempt: Attempt
    steps_left: int

    def tried(self, candidate: Program) -> Program | None:
        """What is left of a candidate if it still shows the flaw."""
        if self.steps_left <= 0 or not candidate:
            return None
        self.steps_left -= len(candidate) + 1
        return self.attempt(candidate)

    def to_the_last_place(self, program: Program) -> Program:
        """Only the steps in the namespace or the thread of the last one, if they do."""
        if len(program) <= 2:
            return program
        for key in (_namespace_of, _thread_of):
            last = key(program[-1])
            candidate = tuple(step for step in program if key(step) == last)
            kept = self.tried(candidate) if len(candidate) < len(program) else None
            if kept is not None:
                return kept
        return program

    def without_chunks(self, program: Program, size: int) -> Program:
        """Without as many steps as can be left out, half of them at once at first."""
        size = max(size, 1)
        while size:
            start = len(program)
            while start > 0:
                start = max(start - size, 0)
                candidate = program[:start] + program[start + size :]
                kept = self.tried(candidate) if len(candidate) < len(program) else None
                if kept is not None:
                    program = kept
                start = min(start, len(program))
            size //= 2
        return program

    def with_simpler_steps(self, program: Program) -> Program:
        """The same number of steps, each as simple as can be; equal ones stay equal."""
        place = 0
        while place < len(program):
            for step in simpler(program[place]):
                if step == program[place]:
                    continue
                kept = self.tried(_with(program, program[place], step))
                if kept is not None and len(kept) == len(program):
                    program = kept
                    break
            else:
                place += 1
        return program

    def with_plain_names(self, program: Program) -> Program:
        """Checkpoints numbered from 1, plain threads and namespaces, where that changes nothing."""
        for rewritten in (renumbered, plain_threads, plain_namespaces):
            candidate = rewritten(program)
            kept = self.tried(candidate) if candidate != program else None
            if kept is not None and len(kept) == len(program):
                program = kept
        return program


def _thread_of(step: Step) -> Any:
    return getattr(step, "thread", None)


def _namespace_of(step: Step) -> Any:
    return _thread_of(step), getattr(step, "namespace", None)


def _with(program: Program, old: Step, new: Step) -> Program:
    return tuple(new if step == old else step for step in program)


def simpler(step: Step) -> Iterator[Step]:
    """Simpler forms of a step: the simplest at all first, then each simpler in one way."""
    match step:
        case Put():
            yield from _simpler_put(step)
        case PutWrites():
            yield from _simpler_writes(step)
        case ListTuples():
            yield from _simpler_fields(
                step, filter=None, before=None, limit=None, number=None, namespace=None
            )
        case GetTuple():
            yield from _simpler_fields(step)


def _simpler_fields(step: Any, **plain: Any) -> Iterator[Step]:
    for name, value in {**plain, "extras": PLAIN}.items():
        if getattr(step, name) != value:
            yield replace(step, **{name: value})


def _simpler_put(step: Put) -> Iterator[Step]:
    if step.copy_of is None:
        plainest = Put(step.thread, step.namespace, step.number)
        yield plainest
        yield replace(plainest, changes=step.changes)
    if step.parent is not None and step.copy_of is None:
        yield replace(step, parent=None)
    if step.metadata:
        yield replace(step, metadata=None)
    for number in range(len(step.changes)):
        yield replace(step, changes=step.changes[:number] + step.changes[number + 1 :])
    for number, (name, value) in enumerate(step.changes):
        for plain in _plainer(value) if value is not None else ():
            changes = (*step.changes[:number], (name, plain), *step.changes[number + 1 :])
            yield replace(step, changes=changes)
    for key in step.metadata or {} if len(step.metadata or {}) > 1 else ():
        kept = {name: value for name, value in (step.metadata or {}).items() if name != key}
        yield replace(step, metadata=kept)
    yield from _simpler_fields(
        step,
        format=None,
        fields="usual",
        mutate_inputs=False,
        omit_unchanged=False,
        node="agent",
    )


def _simpler_writes(step: PutWrites) -> Iterator[Step]:
    for size in (len(step.writes) // 2, 1):
        for number in range(0, len(step.writes), size or 1):
            kept = step.writes[:number] + step.writes[number + size :]
            if len(kept) < len(step.writes):
                yield replace(step, writes=kept)
    for number, (name, value) in enumerate(step.writes):
        for plain in _plainer(value):
            writes = (*step.writes[:number], (name, plain), *step.writes[number + 1 :])
            yield replace(step, writes=writes)
    yield from _simpler_fields(step, mutate_inputs=False)


_SIMPLE = frozenset(Value("integer", n) for n in range(10))


def _plainer(value: Value) -> Iterator[Value]:
    """Plainer values; small integers that mostly differ where the values did."""
    if value in _SIMPLE:
        return
    digits = sum(map(ord, f"{value.kind}{value.seed}"))
    yield Value("integer", digits % 10)
    yield Value("integer", (digits + 1) % 10)
