"""Makers of steps that read, remove, copy, or go through a saver's life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from saverproof.model.store import ROOT, Model
from saverproof.programs.making import place, put, some_address, writes
from saverproof.programs.theme import Theme, draw
from saverproof.steps.definitions import (
    AbandonList,
    Clone,
    CloseAgain,
    CloseClone,
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    DropClone,
    Elsewhere,
    Extras,
    GetTuple,
    IdForm,
    ListTuples,
    Prune,
    Put,
    RefuseValue,
    Reopen,
    SetUp,
    Step,
    WalkPages,
)
from saverproof.values import Value

LOOP = Extras(loop=True)


def get(model: Model, choose: Random, theme: Theme) -> GetTuple:
    """Read a checkpoint that is there, or the newest, or one that never was."""
    thread, namespace = place(choose, theme)
    history = model.history(thread, namespace)
    kind = choose.random()
    if kind < 0.4:
        return GetTuple(thread, namespace)
    if kind < 0.8 and history:
        return GetTuple(thread, namespace, choose.choice(list(history)))
    return GetTuple(thread, namespace, max(history, default=0) + choose.randint(1, 4))


def get_in_form(model: Model, choose: Random, theme: Theme) -> GetTuple:
    """Read the newest in one of the forms a config may have."""
    step = get(model, choose, theme)
    match choose.randrange(4):
        case 0:
            return replace(step, number=None, id_form=choose.choice((IdForm.NONE, IdForm.EMPTY)))
        case 1:
            thread = choose.choice(theme.threads)
            numbers = [None, *model.history(thread, ROOT)]
            return GetTuple(thread, None, choose.choice(numbers))
        case 2:
            return replace(step, extras=LOOP)
        case _:
            return replace(step, mutate_result=True)


def list_(model: Model, choose: Random, theme: Theme) -> ListTuples:
    """List a namespace or a thread, with any of before, limit and filter."""
    thread, namespace = place(choose, theme)
    numbers = list(model.history(thread, namespace))
    top = max(numbers, default=1)
    return ListTuples(
        thread,
        namespace if choose.random() < 0.7 else None,
        before=choose.randint(1, top + 1) if choose.random() < 0.4 else None,
        limit=choose.randrange(4) if choose.random() < 0.4 else None,
        filter=choose.choice(theme.filters) if choose.random() < 0.3 else None,
    )


def list_filtered(model: Model, choose: Random, theme: Theme) -> ListTuples:
    """List with a filter, mostly over a whole thread."""
    thread, namespace = place(choose, theme)
    chosen = namespace if choose.random() < 0.4 else None
    limit = choose.randint(1, 3) if choose.random() < 0.2 else None
    return ListTuples(thread, chosen, filter=choose.choice(theme.filters), limit=limit)


def list_in_form(model: Model, choose: Random, theme: Theme) -> ListTuples:
    """List with an id, or in one of the forms a config may have."""
    thread, namespace = place(choose, theme)
    numbers = list(model.history(thread, namespace))
    match choose.randrange(3):
        case 0:
            number = choose.choice(numbers) if numbers else 1
            return ListTuples(thread, namespace, number)
        case 1:
            form = choose.choice((IdForm.NONE, IdForm.EMPTY))
            return ListTuples(thread, namespace, id_form=form)
        case _:
            return ListTuples(thread, namespace, extras=LOOP)


def list_all(model: Model, choose: Random, theme: Theme) -> ListTuples:
    """List every thread."""
    del model, theme
    return ListTuples(None, limit=choose.choice((None, None, 2)))


def pages(model: Model, choose: Random, theme: Theme) -> WalkPages | None:
    """Walk a namespace in pages."""
    thread, namespace = place(choose, theme)
    if not model.history(thread, namespace):
        return None
    return WalkPages(thread, namespace, choose.randint(1, 3))


def put_in_loop(model: Model, choose: Random, theme: Theme) -> Put:
    """A put whose config is as the loop has it."""
    return replace(put(model, choose, theme), extras=LOOP)


def put_root_in_form(model: Model, choose: Random, theme: Theme) -> Put:
    """A root whose config says None or nothing where its parent's id would be."""
    step = put(model, choose, theme)
    changed = tuple((name, value or draw(choose, theme)) for name, value in step.changes)
    form = choose.choice((IdForm.NONE, IdForm.EMPTY))
    return replace(step, parent=None, changes=changed, id_form=form)


def put_and_change(model: Model, choose: Random, theme: Theme) -> Put:
    """A put after which the caller goes on changing its own objects."""
    return replace(put(model, choose, theme), mutate_inputs=True)


def writes_in_loop(model: Model, choose: Random, theme: Theme) -> Step | None:
    """A batch whose config is as the loop has it."""
    step = writes(model, choose, theme)
    return None if step is None else replace(step, extras=LOOP)


def writes_and_change(model: Model, choose: Random, theme: Theme) -> Step | None:
    """A batch after which the caller goes on changing its own objects."""
    step = writes(model, choose, theme)
    return None if step is None else replace(step, mutate_inputs=True)


def put_merging(model: Model, choose: Random, theme: Theme) -> Put:
    """A put whose config brings metadata of its own, in both places that join."""
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


def refuse(model: Model, choose: Random, theme: Theme) -> RefuseValue | None:
    """Hand over a value that cannot be serialized."""
    address = some_address(model, choose, theme)
    if address is None:
        return None
    thread, namespace, number = address
    if choose.random() < 0.5:
        return RefuseValue("put_writes", thread, namespace, number, position=choose.randrange(5))
    fresh = max(model.history(thread, namespace)) + 1
    return RefuseValue("put", thread, namespace, fresh, number)


def delete_thread(model: Model, choose: Random, theme: Theme) -> DeleteThread:
    """Delete a thread, one that holds nothing now and then."""
    del model
    return DeleteThread(choose.choice((*theme.threads, "nobody")))


def delete_runs(model: Model, choose: Random, theme: Theme) -> DeleteForRuns:
    """Delete the checkpoints of one run or two, an unknown one now and then."""
    del model
    runs = choose.sample((*theme.runs, "no-such-run"), choose.randint(1, 2))
    return DeleteForRuns(tuple(runs))


def copy_thread(model: Model, choose: Random, theme: Theme) -> CopyThread | None:
    """Copy a thread to one that holds nothing."""
    written = {address[0] for address in model.writes}
    free = [t for t in (*theme.threads, "twin", "other") if t not in model.threads]
    free = [t for t in free if t not in written]
    sources = [t for t in theme.threads if t in model.threads]
    if not free or not sources:
        return None
    return CopyThread(choose.choice(sources), choose.choice(free))


def prune(model: Model, choose: Random, theme: Theme) -> Prune:
    """Prune no thread, one, or two."""
    del model
    threads = choose.sample(theme.threads, choose.choice((0, 1, 1, 2)))
    return Prune(tuple(threads), choose.choice(("keep_latest", "keep_latest", "delete")))


def prune_to_latest(model: Model, choose: Random, theme: Theme) -> Prune:
    """Prune one thread to its newest checkpoints."""
    del model
    return Prune((choose.choice(theme.threads),), "keep_latest")


def delta_history(model: Model, choose: Random, theme: Theme) -> DeltaHistory:
    """Ask for the delta history of some channels."""
    thread, namespace = place(choose, theme)
    numbers = [None, *model.history(thread, namespace)]
    count = choose.randint(1, min(3, len(theme.channels)))
    channels = tuple(choose.sample(theme.channels, count))
    return DeltaHistory(thread, namespace, choose.choice(numbers), channels)


def put_delta(model: Model, choose: Random, theme: Theme) -> Put:
    """A checkpoint of a thread whose first channel is kept as deltas: a value only now and then."""
    step = put(model, choose, theme)
    name = theme.channels[0]
    others = tuple((n, v) for n, v in step.changes if n != name)
    snapshot = draw(choose, theme) if choose.random() < 0.25 else None
    counters = {"counters_since_delta_snapshot": {name: [step.number % 4, step.number % 4]}}
    metadata = dict(step.metadata or {}) | counters
    return replace(step, changes=((name, snapshot), *others), metadata=metadata)


def reopen(model: Model, choose: Random, theme: Theme) -> Reopen:
    """Close and open again."""
    del model, choose, theme
    return Reopen()


def set_up(model: Model, choose: Random, theme: Theme) -> SetUp:
    """Set the store up once more."""
    del model, choose, theme
    return SetUp()


def close_again(model: Model, choose: Random, theme: Theme) -> CloseAgain:
    """Close twice."""
    del model, choose, theme
    return CloseAgain()


def clone(model: Model, choose: Random, theme: Theme) -> Step:
    """Go on through a shallow copy, drop it, or close it."""
    del model, theme
    kind: Callable[[], Step] = choose.choice((Clone, Clone, DropClone, CloseClone))
    return kind()


def abandon(model: Model, choose: Random, theme: Theme) -> AbandonList:
    """Leave a listing after its first item."""
    del model
    return AbandonList(choose.choice(theme.threads))


def elsewhere(model: Model, choose: Random, theme: Theme) -> Elsewhere:
    """Put into another workspace."""
    del model
    return Elsewhere(choose.choice(theme.threads), choose.randint(1, 5))
