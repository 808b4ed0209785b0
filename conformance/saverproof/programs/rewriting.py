"""Programs in another order, or without this or that.

What comes out need not be legal; whoever runs it leaves out the steps that are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from saverproof.model.records import SPECIAL_INDEX
from saverproof.programs.renaming import names
from saverproof.steps.definitions import (
    CloseAgain,
    CopyThread,
    IdForm,
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

_ONE_WRITE = (("notes", Value("integer", 0)),)


def place(step: Put | PutWrites) -> Place:
    """The checkpoint that a step writes."""
    return step.thread, step.namespace, step.number


def is_special(step: Step) -> bool:
    """Whether a step is a batch that holds a special write."""
    return isinstance(step, PutWrites) and any(name in SPECIAL_INDEX for name, _ in step.writes)


def is_mixed(step: Step) -> bool:
    """Whether a step is a batch that holds special writes and regular ones."""
    return is_special(step) and bool(names(step))


def begun(program: Program) -> Program:
    """The same on a store that something was put into before."""
    first = Put("begun", "", 1)
    return program if program[:1] == (first,) else (first, *program)


def batches_filled(program: Program) -> Program:
    """The same with a write in each batch that has none."""
    return tuple(
        replace(step, writes=_ONE_WRITE)
        if isinstance(step, PutWrites) and not step.writes
        else step
        for step in program
    )


def without(*kinds: type[Step]) -> Callable[[Program], Program]:
    """What leaves the steps of these kinds out."""
    return lambda program: tuple(step for step in program if not isinstance(step, kinds))


def set_up_only(program: Program) -> Program:
    """The same with set-ups of the open saver where it was closed and opened again."""
    return tuple(SetUp() if isinstance(step, Reopen) else step for step in program)


def reopened_only(program: Program) -> Program:
    """The same with nothing done between closing and opening again."""
    return tuple(Reopen() if isinstance(s, CloseAgain) else s for s in program)


def writes_on_time(program: Program) -> Program:
    """Each batch right behind the put of its checkpoint, or behind the batch before it there."""
    puts = {place(step) for step in program if isinstance(step, Put)}
    waiting: dict[Place, list[Step]] = {}
    for step in program:
        if isinstance(step, PutWrites) and place(step) in puts:
            waiting.setdefault(place(step), []).append(step)
    ordered: list[Step] = []
    for step in program:
        if isinstance(step, Put):
            ordered += [step, *waiting.pop(place(step), [])]
        elif not (isinstance(step, PutWrites) and place(step) in puts):
            ordered.append(step)
    return tuple(ordered)


def all_on_time(program: Program) -> Program:
    """Puts in the order of their numbers, too, so that each is the latest when its writes come."""
    waiting: dict[tuple[str, str], list[Put]] = {}
    for step in program:
        if isinstance(step, Put):
            waiting.setdefault(place(step)[:2], []).append(step)
    for puts in waiting.values():
        puts.sort(key=lambda put: put.number, reverse=True)
    ordered = (waiting[place(s)[:2]].pop() if isinstance(s, Put) else s for s in program)
    return writes_on_time(tuple(ordered))


def early_on_time(program: Program) -> Program:
    """Batches that come before their checkpoint moved behind its put, the others left."""
    ordered: list[Step] = []
    waiting: dict[Place, list[Step]] = {}
    put: set[Place] = set()
    coming = {place(step) for step in program if isinstance(step, Put)}
    for step in program:
        if isinstance(step, PutWrites) and place(step) in coming - put:
            waiting.setdefault(place(step), []).append(step)
            continue
        if isinstance(step, PutWrites) and place(step) not in put:
            put.add(place(step))
            ordered.append(Put(*place(step)))
        ordered.append(step)
        if isinstance(step, Put):
            put.add(place(step))
            ordered += waiting.pop(place(step), [])
    return tuple(ordered)


def one_path(program: Program) -> Program:
    """Each task with the path of its first batch on a checkpoint."""
    first: dict[tuple[Place, int], str] = {}
    return _each_batch(
        program,
        lambda step: replace(step, path=first.setdefault((place(step), step.task), step.path)),
    )


def written_once(program: Program) -> Program:
    """Each batch of a task that has written to its checkpoint before by a task of its own."""
    tasks = [step.task for step in program if isinstance(step, PutWrites)]
    unused = max(tasks, default=0) + 1
    met: set[tuple[Place, int]] = set()
    once: list[Step] = []
    for step in program:
        if isinstance(step, PutWrites):
            if (place(step), step.task) in met:
                step = replace(step, task=unused)
                unused += 1
            met.add((place(step), step.task))
        once.append(step)
    return tuple(once)


def tasks_apart(program: Program) -> Program:
    """The same with no task on two checkpoints, but for the null task."""
    numbers: dict[int, dict[Place, int]] = {}
    for step in program:
        if isinstance(step, PutWrites):
            places = numbers.setdefault(step.task, {})
            places.setdefault(place(step), len(places))
    most = max(numbers, default=0) + 1
    return _each_batch(
        program,
        lambda step: (
            replace(step, task=step.task + most * numbers[step.task][place(step)])
            if step.task
            else step
        ),
    )


def special_apart(program: Program) -> Program:
    """Special writes under tasks of their own, so that they meet no regular write."""
    apart: list[Step] = []
    for step in program:
        if not isinstance(step, PutWrites) or not is_special(step):
            apart.append(step)
            continue
        regular = tuple((n, v) for n, v in step.writes if n not in SPECIAL_INDEX)
        special = tuple((n, v) for n, v in step.writes if n in SPECIAL_INDEX)
        if regular:
            apart.append(replace(step, writes=regular))
        apart.append(replace(step, task=step.task + 50, writes=special))
    return tuple(apart)


def special_split(program: Program) -> Program:
    """Each special write in a batch of its own; the regular ones keep their places in theirs."""
    split: list[Step] = []
    for step in program:
        if not isinstance(step, PutWrites) or not is_special(step) or len(step.writes) == 1:
            split.append(step)
            continue
        split += [replace(step, writes=(w,)) for w in step.writes if w[0] in SPECIAL_INDEX]
        if names(step):
            writes = tuple(("c" if n in SPECIAL_INDEX else n, v) for n, v in step.writes)
            split.append(replace(step, writes=writes))
    return tuple(split)


def unmixed(program: Program) -> Program:
    """Mixed batches with regular channels in the place of the special ones."""

    def change(step: PutWrites) -> Step:
        if not is_mixed(step):
            return step
        writes = tuple(("c" if n in SPECIAL_INDEX else n, v) for n, v in step.writes)
        return replace(step, writes=writes)

    return _each_batch(program, change)


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


def without_nones(program: Program) -> Program:
    """The same with a text for each None that is written."""

    def change(step: PutWrites) -> Step:
        writes = tuple(
            (name, Value("text", "none") if value.kind == "none" else value)
            for name, value in step.writes
        )
        return replace(step, writes=writes)

    return _each_batch(program, change)


def put_no_nones(program: Program) -> Program:
    """The same with a text for each None that a checkpoint stores."""
    return tuple(
        replace(
            step,
            changes=tuple(
                (name, Value("text", "none") if value and value.kind == "none" else value)
                for name, value in step.changes
            ),
        )
        if isinstance(step, Put)
        else step
        for step in program
    )


def distinct_channels(program: Program) -> Program:
    """No regular channel twice among the writes."""
    distinct: list[Step] = []
    for number, step in enumerate(program):
        if isinstance(step, PutWrites):
            writes = tuple(
                (name if name in SPECIAL_INDEX else f"c{number}_{position}", value)
                for position, (name, value) in enumerate(step.writes)
            )
            distinct.append(replace(step, writes=writes))
        else:
            distinct.append(step)
    return tuple(distinct)


def _each_batch(program: Program, change: Callable[[PutWrites], Step]) -> Program:
    return tuple(change(step) if isinstance(step, PutWrites) else step for step in program)
