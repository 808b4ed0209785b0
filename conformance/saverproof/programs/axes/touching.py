"""Finds the points of the axes that a step touches, from the step and the model before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from saverproof.programs.axes import table, touching_deltas, touching_removals
from saverproof.programs.axes.axis import Axis, Touched
from saverproof.programs.axes.bounds import at_least
from saverproof.programs.axes.texts import alike, oddities
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    IdForm,
    ListTuples,
    NextVersions,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
    Times,
    VersionsBy,
    WalkPages,
)
from saverproof.programs.values import CATALOGUE, Value

_FORMS = {IdForm.ABSENT: "not there", IdForm.NONE: "None", IdForm.EMPTY: "empty text"}
_SIZES = {
    "falsy": "empty",
    "plain": "primitive",
    "container": "container",
    "medium": "64 kB",
    "large": "1 MB",
    "huge": "16 MB",
}
_LIKE = {
    "envelope": "an envelope",
    "alike-but-in-the-middle": "another, but for its middle",
    "alike-but-at-the-end": "another, but for its end",
}
_MAKERS = {VersionsBy.SAVER: "the saver", VersionsBy.AGENT_SERVER: "the Agent Server"}
_TIMES = {Times.RISING: "alike", Times.EQUAL: "equal times", Times.FALLING: "reversed"}


def touched_by(step: Step, model: Model) -> list[Touched]:
    """Return the points that a step touches; ``model`` is as it was before the step."""
    tell = _TELL.get(type(step))
    return [] if tell is None else list(tell(step, model))


@lru_cache(maxsize=4_096)
def _texts(axis: Axis, text: str) -> tuple[Touched, ...]:
    return tuple(axis.at(odd) for odd in oddities(text))


def _size(value: Value) -> str | None:
    if value.kind == "text" and value.seed == "":
        return "empty"
    return _SIZES.get(CATALOGUE[value.kind].group)


def _sizes(axis: Axis, values: Iterable[Value | None]) -> Iterator[Touched]:
    for value in values:
        if value is not None:
            yield table.LIKE.at(_LIKE.get(value.kind, "no other"))
            if (size := _size(value)) is not None:
                yield axis.at(size)


def _put(step: Put, model: Model) -> Iterator[Touched]:
    history = model.history(step.thread, step.namespace)
    yield from _parent(step, model)
    yield from touching_removals.put(step, model)
    if history:
        newest = max(history)
        yield table.TIMES.at(_times(step, history[newest].step))
    yield from touching_deltas.put(step)
    yield table.VERSIONS_BY.at(_MAKERS[step.versions])
    if step.copy_of is None:
        yield from _sizes(table.VALUE, (value for _, value in step.changes))
        base = history.get(step.parent or 0)
        names = {name for name, _ in step.changes} | (set(base.channels) if base else set())
        many = at_least(len(names), (0, "0"), (1, "1"), (2, "2 to 199"), (200, "200"))
        yield table.CHANNELS.at(many or "0")
    if step.parent is None:
        yield table.FORM.at(_FORMS[step.id_form])
    for name, _ in step.changes:
        yield from _texts(table.CHANNEL_TEXT, name)
    yield from _texts(table.NODE_TEXT, step.node)
    for key, value in (step.metadata or {}).items():
        yield from _texts(table.METADATA_KEY_TEXT, key)
        if isinstance(value, str):
            yield from _texts(table.METADATA_TEXT, value)
        if not isinstance(value, dict | list):
            yield table.STORED_ALIKE.at(alike(value))
    yield from _place(step.thread, step.namespace)


def _parent(step: Put, model: Model) -> Iterator[Touched]:
    history = model.history(step.thread, step.namespace)
    if step.parent is None:
        yield table.PARENT.at("none")
        return
    if step.parent > step.number:
        yield table.PARENT.at("one with a higher id")
    if step.parent not in history:
        return
    newest = max(history)
    yield table.PARENT.at("the newest" if step.parent == newest else "an older one")
    address = (step.thread, step.namespace, step.parent)
    if step.number not in history and model.has_children(address):
        yield table.PARENT.at("one that has a child")


def _times(step: Put, newest: Put) -> str:
    own = step.number if step.clock is None else step.clock
    other = newest.number if newest.clock is None else newest.clock
    if own == other:
        return "equal times"
    return "alike" if (own < other) == (step.number < newest.number) else "reversed"


def _put_history(step: PutHistory, model: Model) -> Iterator[Touched]:
    yield table.PARENT.at("the newest")
    yield table.TIMES.at(_TIMES[step.times])
    yield from _place(step.thread, step.namespace)


def _put_writes(step: PutWrites, model: Model) -> Iterator[Touched]:
    many = at_least(len(step.writes), (0, "0"), (1, "1"), (2, "2 or more"), (1_100, "1,100"))
    yield table.BATCH.at(many or "0")
    yield from touching_removals.special_writes(step)
    yield from _sizes(table.WRITE, (value for _, value in step.writes))
    for name, _ in step.writes:
        yield from _texts(table.CHANNEL_TEXT, name)
    latest = model.latest(step.thread, step.namespace)
    if model.record((step.thread, step.namespace, step.number)) is None:
        yield table.MOMENT.at("before its checkpoint")
    else:
        newest = latest == step.number
        yield table.MOMENT.at("newest checkpoint" if newest else "older checkpoint")
    yield from _place(step.thread, step.namespace)


def _place(thread: str, namespace: str | None) -> Iterator[Touched]:
    yield from _texts(table.THREAD_TEXT, thread)
    if namespace:
        yield from _texts(table.NAMESPACE_TEXT, namespace)


def _length(model: Model, thread: str | None, namespace: str | None) -> Iterator[Touched]:
    threads = model.threads.values() if thread is None else [model.threads.get(thread, {})]
    for namespaces in threads:
        for name, records in namespaces.items():
            if namespace is None or name == namespace:
                many = len(records)
                bounds = ((1, "1"), (2, "2"), (3, ""), (100, "100"), (1_100, "1,100"))
                if found := at_least(many, *bounds):
                    yield table.LENGTH.at(found)


def _namespace(namespace: str | None) -> Touched:
    spelled = "not there" if namespace is None else "a name" if namespace else "empty text"
    return table.NAMESPACE.at(spelled)


def _get_tuple(step: GetTuple, model: Model) -> Iterator[Touched]:
    yield table.READ.at("the newest" if step.number is None else "by id")
    yield table.FORM.at(_FORMS[step.id_form])
    yield _namespace(step.namespace)
    yield from _length(model, step.thread, step.namespace or "")
    yield from _place(step.thread, step.namespace)


def _list_tuples(step: ListTuples, model: Model) -> Iterator[Touched]:
    yield from _length(model, step.thread, step.namespace)
    if step.thread is None:
        yield table.READ.at("list of everything")
    else:
        of = "a thread" if step.namespace is None else "a namespace"
        yield table.READ.at(f"list of {of if step.number is None else 'an id'}")
        yield table.FORM.at(_FORMS[step.id_form])
        yield _namespace(step.namespace)
        yield from _place(step.thread, step.namespace)
    yield table.BEFORE.at(_before(step, model))
    yield from _limit(step, model)
    yield from _filter(step, model)


def _before(step: ListTuples, model: Model) -> str:
    if step.before is None:
        return "none"
    stored = any(step.before == number for *_, number in model.addresses())
    return "a stored id" if stored else "an id never put"


def _limit(step: ListTuples, model: Model) -> Iterator[Touched]:
    if step.limit is None or step.limit <= 1:
        yield table.LIMIT.at("none" if step.limit is None else str(step.limit))
        return
    selected = len(model.listing(step))
    if step.limit >= selected:
        yield table.LIMIT.at("exact" if step.limit == selected else "more")


def _filter(step: ListTuples, model: Model) -> Iterator[Touched]:
    if not step.filter:
        yield table.FILTER.at("none")
        return
    yield table.FILTER.at("fits some" if model.listing(step) else "fits none")
    for key, value in step.filter.items():
        yield from _texts(table.FILTER_KEY_TEXT, key)
        if isinstance(value, str):
            yield from _texts(table.FILTER_TEXT, value)
        if not isinstance(value, dict | list):
            yield table.ASKED_ALIKE.at(alike(value))


def _walk_pages(step: WalkPages, model: Model) -> Iterator[Touched]:
    yield table.READ.at("pages")
    yield from _length(model, step.thread, step.namespace)


def _next_versions(step: NextVersions, model: Model) -> Iterator[Touched]:
    yield table.VERSIONS.at("10,000 and more" if step.count >= 10_000 else "up to 9,999")


_TELL: dict[type[Step], Callable[[Any, Model], Iterator[Touched]]] = {
    Put: _put,
    PutHistory: _put_history,
    PutWrites: _put_writes,
    GetTuple: _get_tuple,
    ListTuples: _list_tuples,
    WalkPages: _walk_pages,
    DeltaHistory: touching_deltas.delta_history,
    NextVersions: _next_versions,
    DeleteThread: touching_removals.delete_thread,
    DeleteForRuns: touching_removals.delete_for_runs,
    CopyThread: touching_removals.copy_thread,
    Prune: touching_removals.prune,
}
