"""Makers of puts, legal where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from saverproof.programs.makers.addresses import (
    fresh_number,
    numbers_beside,
    place,
    some_address,
    unused,
)
from saverproof.programs.model.store import ROOT, Model
from saverproof.programs.steps.definitions import Extras, IdForm, Put
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.theme import Theme, draw
from saverproof.programs.values import Value

LOOP = Extras(loop=True)


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
        free = {*range(1, number)} - numbers_beside(model, namespace)
        parent = choose.choice(sorted(free | set(older))) if free else None
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
    """Return one to three channels with new values; sometimes one loses its value instead."""
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
    """Return the loop's metadata together with the theme's own keys."""
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
    """A stored checkpoint, put once more unchanged."""
    address = some_address(model, choose, theme)
    record = model.record(address) if address is not None else None
    return None if record is None else record.step


def put_replacing(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A stored checkpoint, put again with new values and metadata."""
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
    number = unused(max(model.history(thread, namespace)) + 1, numbers_beside(model, namespace))
    made = {"source": "fork", "step": 1, "parents": {}}
    return Put(thread, namespace, number, record.parent, copy_of=source, metadata=made)


def put_omitting(model: Model, choose: Random, theme: Theme) -> Put | None:
    """A checkpoint that gives the changed values only."""
    step = put(model, choose, theme)
    return None if step.parent is None else replace(step, omit_unchanged=True)


def put_in_loop(model: Model, choose: Random, theme: Theme) -> Put:
    """A put with a config such as LangGraph's loop passes."""
    return replace(put(model, choose, theme), extras=LOOP)


def put_root_in_form(model: Model, choose: Random, theme: Theme) -> Put:
    """A root whose config has None, or nothing, in place of the parent's id."""
    step = put(model, choose, theme)
    changed = tuple((name, value or draw(choose, theme)) for name, value in step.changes)
    form = choose.choice((IdForm.NONE, IdForm.EMPTY))
    return replace(step, parent=None, changes=changed, id_form=form)


def put_and_change(model: Model, choose: Random, theme: Theme) -> Put:
    """A put whose checkpoint the caller changes after the call."""
    return replace(put(model, choose, theme), mutate_inputs=True)


def put_merging(model: Model, choose: Random, theme: Theme) -> Put:
    """A put whose config has metadata of its own, in both places from which metadata is merged."""
    keys = ("user", "source", "attempt", "score", "flag", "__private", "langgraph_node", "detail")
    values = ("ann", 3, 1.5, True, {"nested": 1}, ["list"], None, "zoë", 0, "", False)
    chosen = {key: choose.choice(values) for key in choose.sample(keys, 3)}
    other = {key: choose.choice(values) for key in choose.sample(keys, 2)}
    extras = Extras(configurable=chosen, metadata=other)
    return replace(put(model, choose, theme), extras=extras)


def put_older(model: Model, choose: Random, theme: Theme) -> Put:
    """A checkpoint in the form of an earlier LangGraph."""
    step = put(model, choose, theme)
    fields = choose.choice(("unknown", "pending-sends", "fewer"))
    return replace(step, format=choose.choice((1, 2, 3)), fields=fields)


def put_with_legacy_writes(model: Model, choose: Random, theme: Theme) -> Put:
    """A put whose metadata has the legacy key ``writes``, an object inside."""
    return replace(put(model, choose, theme), legacy_writes=Value("human-message", 1))


def put_delta(model: Model, choose: Random, theme: Theme) -> Put:
    """A checkpoint of a thread whose first channel is stored as deltas, with a value only now and
    then.
    """
    step = put(model, choose, theme)
    name = theme.channels[0]
    others = tuple((n, v) for n, v in step.changes if n != name)
    snapshot = draw(choose, theme) if choose.random() < 0.25 else None
    since = 1 + step.number % 4
    counters = {"counters_since_delta_snapshot": {name: [since, since]}}
    metadata = dict(step.metadata or {}) | counters
    return replace(step, changes=((name, snapshot), *others), metadata=metadata)
