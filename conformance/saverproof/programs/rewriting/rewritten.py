"""Rewrites programs: in another order, or without some of their parts.

The result may have illegal steps, which are left out when it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

from saverproof.programs.steps.definitions import (
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
from saverproof.programs.values import Value

_STORING = (Put, PutHistory, PutWrites)
"""The steps that store something in a thread."""

Place: TypeAlias = tuple[str, str, int]
"""A checkpoint's thread, namespace and number."""


def place(step: Put | PutWrites) -> Place:
    """Return the address of the checkpoint that a step writes."""
    return step.thread, step.namespace, step.number


def begun(program: Program) -> Program:
    """Return the program with a put before it, so that its own first step is not the store's
    first.
    """
    first = Put("begun", "", 1)
    return program if program[:1] == (first,) else (first, *program)


def without(*kinds: type[Step]) -> Callable[[Program], Program]:
    """Return a rewriting that leaves out steps of these kinds."""
    return lambda program: tuple(step for step in program if not isinstance(step, kinds))


def ids_apart(program: Program) -> Program:
    """Return the program with checkpoint numbers that no two namespaces share.

    A read of an id that only other namespaces have stays such a read.
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
    """Return the program with an unused id for each read of an id that only other namespaces
    have.
    """
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
    """The checkpoints in a namespace that a step stores or writes to, as a range of numbers."""

    thread: str
    namespace: str
    numbers: range

    def meets(self, other: _Stored) -> bool:
        """Return whether both have a number in common."""
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
    """Return the namespace of the checkpoint that a step names.

    A read may give an id that its own namespace does not have. Return another namespace that has
    it, if there is one.
    """
    namespace, address = _namespace(step), _address(step)
    if address is None or not isinstance(step, (GetTuple, ListTuples)):
        return namespace
    thread, _, number = address
    owners = [one.namespace for one in stored if one.thread == thread and number in one.numbers]
    return min(owners) if owners and namespace not in owners else namespace


def _numbers(program: Program) -> Iterator[int]:
    """Yield every checkpoint number that a step names."""
    return (address[2] for step in program if (address := _address(step)))


def _namespace(step: Any) -> str:
    return getattr(step, "namespace", None) or ""


def _address(step: Any) -> Place | None:
    """Return the address of the checkpoint that a step names, or None."""
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
    """Return the program with reads that give no id in place of an empty id."""

    def change(step: Any) -> Step:
        empty = getattr(step, "id_form", None) is IdForm.EMPTY
        changed: Step = replace(step, id_form=IdForm.ABSENT) if empty else step
        return changed

    return tuple(map(change, program))


def put_once(program: Program) -> Program:
    """Return the program with one put for each id: the last one, in the place of the first.

    The part after each removal is treated by itself.
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
    """Return the program with plain puts in place of copy-forks; they change the same channels."""
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
    """Return the program with plain steps in place of each copy: they repeat the puts and writes of
    the source on the target.
    """
    made: list[Step] = []
    for step in program:
        if isinstance(step, CopyThread):
            stored = (s for s in made if isinstance(s, _STORING))
            made += [replace(s, thread=step.target) for s in stored if s.thread == step.source]
        else:
            made.append(step)
    return tuple(made)


def other_sides_kept(program: Program) -> Program:
    """Return the program with the removal of another thread, of the same contents, in place of one
    that was copied, or is a copy, if no later step is about that thread.
    """
    made: list[Step] = []
    copied: set[str] = set()
    for at, step in enumerate(program):
        if isinstance(step, CopyThread):
            copied |= {step.source, step.target}
        left = copied - {name for later in program[at + 1 :] for name in _threads_of(later)}
        if isinstance(step, DeleteThread) and step.thread in left:
            apart = f"{step.thread}-apart"
            stored = (s for s in put_for_copied(tuple(made)) if isinstance(s, _STORING))
            made += [replace(s, thread=apart) for s in stored if s.thread == step.thread]
            step = replace(step, thread=apart)
        made.append(step)
    return tuple(made)


def _threads_of(step: Any) -> Iterator[str]:
    """Yield the threads that a step names."""
    yield from getattr(step, "threads", ())
    for field in ("thread", "source", "target"):
        if isinstance(name := getattr(step, field, None), str):
            yield name


def put_no_nones(program: Program) -> Program:
    """Return the program with a text in place of each None that a checkpoint stores."""
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
