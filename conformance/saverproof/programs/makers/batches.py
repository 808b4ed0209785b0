"""Makers of batches of pending writes, and of values that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from saverproof.programs.makers.addresses import (
    fresh_number,
    place,
    some_address,
)
from saverproof.programs.makers.checkpoints import LOOP
from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.model.store import ROOT, Model
from saverproof.programs.steps.definitions import PutWrites, Step
from saverproof.programs.theme import Theme, draw
from saverproof.programs.values import Value

SPECIAL = tuple(SPECIAL_INDEX)


def path_of(task: int, theme: Theme) -> str:
    """Return the task path under which a task stores its writes."""
    return "" if task == 0 else theme.paths[task % len(theme.paths)]


def batch(choose: Random, theme: Theme) -> tuple[tuple[str, Value], ...]:
    """Return the writes of a batch: mostly few, as tasks send, sometimes more than ten."""
    kind = choose.random()
    if kind < 0.12:
        names = choose.sample(SPECIAL, choose.randint(1, 2))
        return tuple((name, draw(choose, theme)) for name in names)
    length = choose.randint(11, 13) if kind > 0.92 else choose.randint(1, 4)
    regular = [(choose.choice(theme.channels), draw(choose, theme)) for _ in range(length)]
    if kind < 0.3:
        special = (choose.choice(SPECIAL), draw(choose, theme))
        regular.insert(choose.randint(0, min(2, len(regular))), special)
    return tuple(regular)


def writes(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """A batch on a stored checkpoint, the newest or an older one."""
    address = some_address(model, choose, theme)
    if address is None:
        return None
    task = choose.choice(theme.tasks)
    return PutWrites(*address, task, batch(choose, theme), path_of(task, theme))


def writes_early(model: Model, choose: Random, theme: Theme) -> PutWrites:
    """A batch on a checkpoint that is not put yet."""
    thread, namespace = place(choose, theme)
    number = fresh_number(model, choose, thread, namespace)
    task = choose.choice(theme.tasks)
    return PutWrites(thread, namespace, number, task, batch(choose, theme), path_of(task, theme))


def writes_again(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """A retried batch: a task that has written before writes other values to the same places."""
    if not model.writes:
        return None
    address = choose.choice(list(model.writes))
    stored = model.writes[address]
    task = choose.choice([write.task for write in stored.values()])
    mine = [write for write in stored.values() if write.task == task]
    path = mine[0].path
    special = [write.channel for write in mine if write.index < 0]
    regular = [w.channel for w in sorted(mine, key=lambda w: w.index) if w.index >= 0]
    kind = choose.random()
    if special and kind < 0.4:
        return PutWrites(*address, task, _valued(choose, theme, special), path)
    if special and kind < 0.75:
        names = [*regular, choose.choice(theme.channels)][:3]
        names.insert(choose.randint(0, len(names)), choose.choice(special))
        return PutWrites(*address, task, _valued(choose, theme, names), path)
    names = regular[: choose.randint(1, 13)] or [choose.choice(theme.channels)]
    if choose.random() < 0.4:
        names.append(choose.choice(theme.channels))
    return PutWrites(*address, task, _valued(choose, theme, names), path)


def _valued(choose: Random, theme: Theme, names: Sequence[str]) -> tuple[tuple[str, Value], ...]:
    return tuple((name, draw(choose, theme)) for name in names)


def writes_special(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """A special write of a task that has regular ones, under a path of its own now and then."""
    if not model.writes:
        return None
    address = choose.choice(list(model.writes))
    write = choose.choice(list(model.writes[address].values()))
    made = ((choose.choice(SPECIAL), draw(choose, theme)),)
    path = write.path
    if write.task and choose.random() < 0.3:
        path = choose.choice(theme.paths)
    return PutWrites(*address, write.task, made, path)


def writes_empty(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """An empty batch."""
    address = some_address(model, choose, theme)
    if address is None:
        return None
    task = choose.choice(theme.tasks)
    return PutWrites(*address, task, (), path_of(task, theme))


def writes_to_root(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """A batch whose config gives no namespace."""
    thread = choose.choice(theme.threads)
    history = model.history(thread, ROOT)
    if not history:
        return None
    task = choose.choice(theme.tasks)
    made = batch(choose, theme)
    number = choose.choice(list(history))
    return PutWrites(thread, ROOT, number, task, made, path_of(task, theme), give_namespace=False)


def writes_in_loop(model: Model, choose: Random, theme: Theme) -> Step | None:
    """A batch with a config such as LangGraph's loop passes."""
    step = writes(model, choose, theme)
    return None if step is None else replace(step, extras=LOOP)


def writes_and_change(model: Model, choose: Random, theme: Theme) -> Step | None:
    """A batch whose values the caller changes after the call."""
    step = writes(model, choose, theme)
    return None if step is None else replace(step, mutate_inputs=True)
