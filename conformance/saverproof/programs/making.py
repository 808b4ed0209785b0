"""Makers of steps that write: puts and batches of pending writes, legal where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from saverproof.model.records import SPECIAL_INDEX, Address
from saverproof.model.store import ROOT, Model
from saverproof.programs.theme import Theme, draw
from saverproof.steps.definitions import Put, PutWrites
from saverproof.steps.identifiers import mint
from saverproof.values import Value

SPECIAL = tuple(SPECIAL_INDEX)


def place(choose: Random, theme: Theme) -> tuple[str, str]:
    """A thread and a namespace."""
    return choose.choice(theme.threads), choose.choice(theme.namespaces)


def some_address(model: Model, choose: Random, theme: Theme) -> Address | None:
    """The address of a checkpoint that is there, the newest of its namespace more often."""
    thread, namespace = place(choose, theme)
    history = model.history(thread, namespace)
    if not history:
        return None
    number = max(history) if choose.random() < 0.5 else choose.choice(list(history))
    return thread, namespace, number


def fresh_number(model: Model, choose: Random, thread: str, namespace: str) -> int:
    """A number not put yet: mostly above all others, now and then in a gap below."""
    history = model.history(thread, namespace)
    waiting = [a[2] for a in model.writes if a[:2] == (thread, namespace) and a[2] not in history]
    if waiting and choose.random() < 0.7:
        return choose.choice(waiting)
    removed = [a[2] for a in model.gone if a[:2] == (thread, namespace)]
    if removed and choose.random() < 0.5:
        return choose.choice(removed)
    top = max(history, default=0)
    gaps = [number for number in range(1, top) if number not in history]
    if gaps and choose.random() < 0.2:
        return choose.choice(gaps)
    return top + choose.choice((1, 1, 1, 2, 3))


def put(model: Model, choose: Random, theme: Theme) -> Put:
    """A new checkpoint: a root, the child of the newest, or a fork."""
    thread, namespace = place(choose, theme)
    history = model.history(thread, namespace)
    number = fresh_number(model, choose, thread, namespace)
    parent = None
    older = [each for each in history if each < number]
    if older and choose.random() < 0.9:
        parent = max(older) if choose.random() < 0.6 else choose.choice(older)
    elif theme.missing_parents and number > 1 and choose.random() < 0.3:
        # A parent that is not there: a graph that stores on exit may hold it back.
        parent = choose.randrange(1, number)
    return Put(
        thread,
        namespace,
        number,
        parent,
        changes=changes(model, choose, theme, thread, namespace, parent),
        metadata=metadata(model, choose, theme, thread, namespace, number),
        node=choose.choice(theme.nodes),
    )


def changes(
    model: Model, choose: Random, theme: Theme, thread: str, namespace: str, parent: int | None
) -> tuple[tuple[str, Value | None], ...]:
    """One to three channels with new values; now and then one that loses its value."""
    count = choose.randint(1, min(3, len(theme.channels)))
    names = choose.sample(theme.channels, count)
    held: Sequence[str] = ()
    record = model.history(thread, namespace).get(parent or 0)
    if record is not None:
        held = [name for name, channel in record.channels.items() if channel.value is not None]
    return tuple(
        (name, None if name in held and choose.random() < 0.12 else draw(choose, theme))
        for name in names
    )


def metadata(
    model: Model, choose: Random, theme: Theme, thread: str, namespace: str, number: int
) -> dict[str, Any]:
    """What the loop gives, and the theme's own keys."""
    parents = {}
    if namespace != ROOT:
        root = model.latest(thread, ROOT)
        parents = {} if root is None else {ROOT: mint(root)}
    made: dict[str, Any] = {
        "source": choose.choice(("loop", "input", "update", "fork")),
        "step": choose.randrange(4),
        "parents": parents,
    }
    if theme.runs and choose.random() < 0.8:
        made["run_id"] = choose.choice(theme.runs)
    return made | dict(choose.choice(theme.metadata))


def put_again(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A checkpoint that is there, put once more as it was."""
    address = some_address(model, choose, theme)
    record = model.record(address) if address is not None else None
    return None if record is None else record.step


def put_replacing(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A checkpoint that is there, put again with new values and metadata."""
    address = some_address(model, choose, theme)
    record = model.record(address) if address is not None else None
    if address is None or record is None or record.step.copy_of is not None:
        return None
    step = record.step
    held = [name for name, _ in step.changes]
    if len(held) > 1 and choose.random() < 0.3:
        held.pop(choose.randrange(len(held)))
    return Put(
        step.thread,
        step.namespace,
        step.number,
        step.parent,
        changes=tuple(
            (name, None if choose.random() < 0.15 else draw(choose, theme)) for name in held
        ),
        metadata=metadata(model, choose, theme, address[0], address[1], address[2]),
        node=step.node,
    )


def put_copy(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A copy-fork of a checkpoint."""
    address = some_address(model, choose, theme)
    if address is None:
        return None
    thread, namespace, source = address
    record = model.record(address)
    assert record is not None
    number = max(model.history(thread, namespace)) + 1
    made = {"source": "fork", "step": 1, "parents": {}}
    return Put(thread, namespace, number, record.parent, copy_of=source, metadata=made)


def put_omitting(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A checkpoint that gives the changed values only."""
    step = put(model, choose, theme)
    return None if step.parent is None else replace(step, omit_unchanged=True)


def path_of(task: int, theme: Theme) -> str:
    """The path under which a task stores its writes."""
    return "" if task == 0 else theme.paths[task % len(theme.paths)]


def batch(choose: Random, theme: Theme) -> tuple[tuple[str, Value], ...]:
    """A batch as tasks send them: mostly short, now and then of more than ten writes."""
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
    """A batch on a checkpoint that is there, the newest or an older one."""
    address = some_address(model, choose, theme)
    if address is None:
        return None
    task = choose.choice(theme.tasks)
    return PutWrites(*address, task, batch(choose, theme), path_of(task, theme))


def writes_early(model: Model, choose: Random, theme: Theme) -> PutWrites:
    """A batch on a checkpoint that was not put yet."""
    thread, namespace = place(choose, theme)
    number = fresh_number(model, choose, thread, namespace)
    task = choose.choice(theme.tasks)
    return PutWrites(thread, namespace, number, task, batch(choose, theme), path_of(task, theme))


def writes_again(model: Model, choose: Random, theme: Theme) -> PutWrites | None:
    """A retried batch: a task that wrote before writes to the same places, other values."""
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
