"""Programs in another order, or without this or that.

What comes out need not be legal; whoever runs it leaves out the steps that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

from saverproof.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    IdForm,
    ListTuples,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
)
from saverproof.values import Value

Place: TypeAlias = tuple[str, str, int]
"""Thread, namespace and number of a checkpoint."""


def place(step: Put | PutWrites) -> Place:
    """The checkpoint that a step writes."""
    return step.thread, step.namespace, step.number


def begun(program: Program) -> Program:
    """The same on a store that something was put into before."""
    first = Put("begun", "", 1)
    return program if program[:1] == (first,) else (first, *program)


def without(*kinds: type[Step]) -> Callable[[Program], Program]:
    """What leaves the steps of these kinds out."""
    return lambda program: tuple(step for step in program if not isinstance(step, kinds))


def ids_apart(program: Program) -> Program:
    """The same with nothing stored under one id in two namespaces: each has numbers of its own.

    A question about an id that only other namespaces have stays one.
    """
    stored = _stored(program)
    if not any(
        one.namespace != other.namespace and one.meets(other)
        for one, other in combinations(stored, 2)
    ):
        return program
    names = {_namespace(step) for step in program}
    most = max((*(one.numbers[-1] for one in stored), *_numbers(program)))
    shift = {namespace: most * rank for rank, namespace in enumerate(sorted(names))}
    return tuple(_shifted(step, shift[_home(step, stored)]) for step in program)


def never_asked_elsewhere(program: Program) -> Program:
    """The same with a new id for each that is read in a namespace and only others have."""
    stored = _stored(program)
    unused = 1 + max((*(one.numbers[-1] for one in stored), *_numbers(program)), default=0)
    return tuple(
        replace(step, number=unused)
        if isinstance(step, GetTuple) and _home(step, stored) != _namespace(step)
        else step
        for step in program
    )


@dataclass(frozen=True, slots=True)
class _Stored:
    """Checkpoints that a step stores, or writes to, in a namespace."""

    thread: str
    namespace: str
    numbers: range

    def meets(self, other: _Stored) -> bool:
        """Whether a number is among both."""
        first, last = self.numbers[0], self.numbers[-1]
        return first <= other.numbers[-1] and other.numbers[0] <= last


def _stored(program: Program) -> list[_Stored]:
    stored: list[_Stored] = []
    for step in program:
        if isinstance(step, (Put, PutHistory, PutWrites)):
            count = max(1, step.count) if isinstance(step, PutHistory) else 1
            numbers = range(step.number, step.number + count)
            stored.append(_Stored(step.thread, step.namespace, numbers))
        elif isinstance(step, CopyThread):
            stored += [replace(s, thread=step.target) for s in stored if s.thread == step.source]
    return list(dict.fromkeys(stored))


def _home(step: Any, stored: Collection[_Stored]) -> str:
    """The namespace whose checkpoint a step names: its own, or one that has the id instead."""
    namespace, address = _namespace(step), _address(step)
    if address is None or not isinstance(step, (GetTuple, ListTuples)):
        return namespace
    thread, _, number = address
    owners = [one.namespace for one in stored if one.thread == thread and number in one.numbers]
    return min(owners) if owners and namespace not in owners else namespace


def _numbers(program: Program) -> Iterator[int]:
    """Every number that a step names."""
    return (address[2] for step in program if (address := _address(step)))


def _namespace(step: Any) -> str:
    return getattr(step, "namespace", None) or ""


def _address(step: Any) -> Place | None:
    """The checkpoint that a step names, if it names one."""
    thread, number = getattr(step, "thread", None), getattr(step, "number", None)
    return None if thread is None or number is None else (thread, _namespace(step), number)


def _shifted(step: Any, by: int) -> Step:
    numbers = {
        name: getattr(step, name, None) for name in ("number", "parent", "copy_of", "before")
    }
    moved = {name: number + by for name, number in numbers.items() if number is not None}
    shifted: Step = replace(step, **moved) if by and moved else step
    return shifted


def no_empty_ids(program: Program) -> Program:
    """The same with no id given where an empty one was."""

    def change(step: Any) -> Step:
        empty = getattr(step, "id_form", None) is IdForm.EMPTY
        changed: Step = replace(step, id_form=IdForm.ABSENT) if empty else step
        return changed

    return tuple(map(change, program))


def put_once(program: Program) -> Program:
    """Of the puts of one id, the last alone, where the first stood, unless anything was removed in
    between.
    """
    parts = [list[Step]()]
    for step in program:
        if isinstance(step, (DeleteThread, DeleteForRuns, Prune)):
            parts.append([])
        parts[-1].append(step)
    return tuple(step for part in parts for step in _put_once(part))


def _put_once(steps: list[Step]) -> Iterator[Step]:
    last = {place(step): step for step in steps if isinstance(step, Put)}
    met: set[Place] = set()
    for step in steps:
        if not isinstance(step, Put):
            yield step
        elif place(step) not in met:
            met.add(place(step))
            yield last[place(step)]


def without_copies(program: Program) -> Program:
    """Copy-forks as plain puts, which change what their sources changed."""
    plain: list[Step] = []
    changes: dict[Place, Any] = {}
    for step in program:
        if isinstance(step, Put):
            if step.copy_of is not None:
                source = (step.thread, step.namespace, step.copy_of)
                step = replace(step, copy_of=None, changes=changes.get(source, ()))
            changes[place(step)] = step.changes
        plain.append(step)
    return tuple(plain)


def put_for_copied(program: Program) -> Program:
    """The same with what was put into the source put into the target, where it was copied."""
    made: list[Step] = []
    for step in program:
        if isinstance(step, CopyThread):
            stored = (s for s in made if isinstance(s, (Put, PutHistory, PutWrites)))
            made += [replace(s, thread=step.target) for s in stored if s.thread == step.source]
        else:
            made.append(step)
    return tuple(made)


def put_no_nones(program: Program) -> Program:
    """The same with a text for each None that a checkpoint stores."""
    return tuple(
        replace(
            step,
            changes=tuple(
                (name, Value("text", "none") if value and value.is_none else value)
                for name, value in step.changes
            ),
        )
        if isinstance(step, Put)
        else step
        for step in program
    )
