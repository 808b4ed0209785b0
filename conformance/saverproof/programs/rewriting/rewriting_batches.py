"""Rewrites programs: moves their batches of pending writes, or changes the writes in them.

The result may have illegal steps, which are left out when it is run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.rewriting.renaming import names
from saverproof.programs.rewriting.rewritten import Place, place
from saverproof.programs.steps.definitions import Program, Put, PutWrites, Step
from saverproof.programs.values import Value

_ONE_WRITE = (("notes", Value("integer", 0)),)


def is_special(step: Step) -> bool:
    """Return whether a step is a batch with a special write."""
    return isinstance(step, PutWrites) and any(name in SPECIAL_INDEX for name, _ in step.writes)


def is_mixed(step: Step) -> bool:
    """Return whether a step is a batch with special and with regular writes."""
    return is_special(step) and bool(names(step))


def batches_filled(program: Program) -> Program:
    """Return the program with one write in each empty batch."""
    return tuple(
        replace(step, writes=_ONE_WRITE)
        if isinstance(step, PutWrites) and not step.writes
        else step
        for step in program
    )


def writes_on_time(program: Program) -> Program:
    """Return the program with each batch right after the put of its checkpoint, in their order."""
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
    """Return the program with puts in the order of their numbers, each with its batches after it.

    So each checkpoint is the latest when its writes come.
    """
    waiting: dict[tuple[str, str], list[Put]] = {}
    for step in program:
        if isinstance(step, Put):
            waiting.setdefault(place(step)[:2], []).append(step)
    for puts in waiting.values():
        puts.sort(key=lambda put: put.number, reverse=True)
    ordered = (waiting[place(s)[:2]].pop() if isinstance(s, Put) else s for s in program)
    return writes_on_time(tuple(ordered))


def early_on_time(program: Program) -> Program:
    """Return the program with early batches moved behind the put of their checkpoint.

    If the program has no such put, one is added.
    """
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
    """Return the program with one path for each task on a checkpoint: that of its first batch."""
    first: dict[tuple[Place, int], str] = {}
    return _each_batch(
        program,
        lambda step: replace(step, path=first.setdefault((place(step), step.task), step.path)),
    )


def written_once(program: Program) -> Program:
    """Return the program with a new task for each further batch of a task on a checkpoint."""
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
    """Return the program with no task on two checkpoints, except the null task."""
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
    """Return the program with special writes under tasks of their own, apart from regular
    writes.
    """
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
    """Return the program with each special write in a batch of its own.

    Regular writes keep their positions: a regular write takes the place of each special one.
    """
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
    """Return the program with regular channels in place of the special ones in mixed batches."""

    def change(step: PutWrites) -> Step:
        if not is_mixed(step):
            return step
        writes = tuple(("c" if n in SPECIAL_INDEX else n, v) for n, v in step.writes)
        return replace(step, writes=writes)

    return _each_batch(program, change)


def without_nones(program: Program) -> Program:
    """Return the program with a text in place of each None that is written."""

    def change(step: PutWrites) -> Step:
        writes = tuple(
            (name, Value("text", "none") if value.is_none else value) for name, value in step.writes
        )
        return replace(step, writes=writes)

    return _each_batch(program, change)


def distinct_channels(program: Program) -> Program:
    """Return the program with a different channel for every regular write."""
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
