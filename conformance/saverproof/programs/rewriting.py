"""Programs in another order, or without this or that.

What comes out need not be legal; whoever runs it leaves out the steps that are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from saverproof.steps.definitions import (
    AbandonList,
    CloseAgain,
    CopyThread,
    IdForm,
    ListTuples,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Reopen,
    SetUp,
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


def listed_to_the_end(program: Program) -> Program:
    """The same where no listing is left before its end."""
    return tuple(ListTuples(s.thread) if isinstance(s, AbandonList) else s for s in program)


def set_up_only(program: Program) -> Program:
    """The same with set-ups of the open saver where it was closed and opened again."""
    return tuple(SetUp() if isinstance(step, Reopen) else step for step in program)


def reopened_only(program: Program) -> Program:
    """The same with nothing done between closing and opening again."""
    return tuple(Reopen() if isinstance(s, CloseAgain) else s for s in program)


def ids_apart(program: Program) -> Program:
    """The same with no id in two namespaces: each has numbers of its own."""
    met: dict[int, set[str]] = {}
    for _, namespace, number in filter(None, map(_address, program)):
        met.setdefault(number, set()).add(namespace)
    if all(len(namespaces) == 1 for namespaces in met.values()):
        return program
    names = dict.fromkeys(namespace for namespaces in met.values() for namespace in namespaces)
    most = max(met)
    shift = {namespace: most * rank for rank, namespace in enumerate(sorted(names))}
    return tuple(_shifted(step, shift.get(_namespace(step), 0)) for step in program)


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
    """Of the puts of one id, the last alone, where the first stood."""
    last = {place(step): step for step in program if isinstance(step, Put)}
    met: set[Place] = set()
    once: list[Step] = []
    for step in program:
        if not isinstance(step, Put):
            once.append(step)
        elif place(step) not in met:
            met.add(place(step))
            once.append(last[place(step)])
    return tuple(once)


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
