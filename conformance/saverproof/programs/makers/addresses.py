"""Chooses the thread, namespace and checkpoint of a step."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.theme import Theme


def place(choose: Random, theme: Theme) -> tuple[str, str]:
    """Return a random thread and namespace of the theme."""
    return choose.choice(theme.threads), choose.choice(theme.namespaces)


def some_address(model: Model, choose: Random, theme: Theme) -> Address | None:
    """Return a stored checkpoint's address, more often a newest one; None if there is none."""
    thread, namespace = place(choose, theme)
    history = model.history(thread, namespace)
    if not history:
        return None
    number = max(history) if choose.random() < 0.5 else choose.choice(list(history))
    return thread, namespace, number


def fresh_number(model: Model, choose: Random, thread: str, namespace: str) -> int:
    """Return an unused checkpoint number: mostly above all others, sometimes in a gap below.

    It is unused in all namespaces, since LangGraph makes each id anew.
    """
    history = model.history(thread, namespace)
    others = numbers_beside(model, namespace)
    waiting = [a[2] for a in model.writes if a[:2] == (thread, namespace) and a[2] not in history]
    if waiting and choose.random() < 0.7:
        return choose.choice(waiting)
    removed = [a[2] for a in model.gone if a[:2] == (thread, namespace)]
    if removed and choose.random() < 0.5:
        return choose.choice(removed)
    top = max(history, default=0)
    gaps = [n for n in range(1, top) if n not in history and n not in others]
    if gaps and choose.random() < 0.2:
        return choose.choice(gaps)
    return unused(top + choose.choice((1, 1, 1, 2, 3)), others)


def unused(number: int, others: Collection[int]) -> int:
    """Return the number, or the next one above it that is not in ``others``."""
    while number in others:
        number += 1
    return number


def numbers_beside(model: Model, namespace: str) -> set[int]:
    """Return the numbers that other namespaces use, used, or have early writes for.

    All threads are included, since a copy brings its ids to another thread.
    """
    addresses = (*model.addresses(), *model.writes, *model.gone)
    return {number for _, inside, number in addresses if inside != namespace}
