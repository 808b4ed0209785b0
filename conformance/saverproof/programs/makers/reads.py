"""Makers of steps that read: by id, by listing, or the history of delta channels."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from saverproof.programs.makers.addresses import numbers_beside, place, unused
from saverproof.programs.makers.checkpoints import LOOP
from saverproof.programs.model.store import ROOT, Model
from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    IdForm,
    ListTuples,
    WalkPages,
)
from saverproof.programs.theme import Theme


def get(model: Model, choose: Random, theme: Theme) -> GetTuple:
    """Read a stored checkpoint by its id, the newest one, or one that was never put."""
    thread, namespace = place(choose, theme)
    history = model.history(thread, namespace)
    kind = choose.random()
    if kind < 0.4:
        return GetTuple(thread, namespace)
    if kind < 0.8 and history:
        return GetTuple(thread, namespace, choose.choice(list(history)))
    never = max(history, default=0) + choose.randint(1, 4)
    return GetTuple(thread, namespace, unused(never, numbers_beside(model, namespace)))


def get_elsewhere(model: Model, choose: Random, theme: Theme) -> GetTuple | None:
    """Read a checkpoint of a thread in a namespace that does not have it."""
    thread, namespace = place(choose, theme)
    own = model.history(thread, namespace)
    others = (a for a in (*model.addresses(), *model.gone) if a[0] == thread and a[2] not in own)
    numbers = sorted({number for _, inside, number in others if inside != namespace})
    return GetTuple(thread, namespace, choose.choice(numbers)) if numbers else None


def get_in_form(model: Model, choose: Random, theme: Theme) -> GetTuple:
    """Read the newest checkpoint, with a config in one of its possible forms."""
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
    """List with an id, or with a config in one of its possible forms."""
    thread, namespace = place(choose, theme)
    numbers = list(model.history(thread, namespace))
    match choose.randrange(3):
        case 0:
            free = unused(1, numbers_beside(model, namespace))
            number = choose.choice(numbers) if numbers else free
            return ListTuples(thread, namespace, number)
        case 1:
            form = choose.choice((IdForm.NONE, IdForm.EMPTY))
            return ListTuples(thread, namespace, id_form=form)
        case _:
            return ListTuples(thread, namespace, extras=LOOP)


def list_all(model: Model, choose: Random, theme: Theme) -> ListTuples:
    """List every thread."""
    return ListTuples(None, limit=choose.choice((None, None, 2)))


def pages(model: Model, choose: Random, theme: Theme) -> WalkPages | None:
    """Walk a namespace in pages."""
    thread, namespace = place(choose, theme)
    if not model.history(thread, namespace):
        return None
    return WalkPages(thread, namespace, choose.randint(1, 3))


def delta_history(model: Model, choose: Random, theme: Theme) -> DeltaHistory:
    """Ask for the delta history of some channels."""
    thread, namespace = place(choose, theme)
    numbers = [None, *model.history(thread, namespace)]
    count = choose.randint(1, min(3, len(theme.channels)))
    channels = tuple(choose.sample(theme.channels, count))
    return DeltaHistory(thread, namespace, choose.choice(numbers), channels)
