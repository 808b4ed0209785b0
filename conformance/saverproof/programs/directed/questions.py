"""Every combination of a listing's arguments, on one small store."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from saverproof.programs.small import OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import ListTuples, Program, Step

_NESTED = "child"
_BOB = frozenset({2, 3, 8})
"""Numbers of the checkpoints by the user bob; the others are ann's."""


def _stored() -> tuple[Step, ...]:
    """Return puts and writes in two namespaces of a thread and in another thread, by two users."""
    puts = (
        *(checkpoint(THREAD, n, n - 1 or None) for n in (1, 2)),
        *(checkpoint(THREAD, n, n - 1, _NESTED) for n in (4, 5)),
        *(checkpoint(THREAD, n, 2) for n in (3, 6)),
        *(checkpoint(OTHER, n, n - 1) for n in (7, 8)),
    )
    users = (
        replace(put, metadata={**(put.metadata or {}), "user_id": _user(put.number)})
        for put in puts
    )
    writes = (batch(put.thread, put.number, 1, 2, namespace=put.namespace) for put in puts)
    return (*users, *writes)


def _user(number: int) -> str:
    return "bob" if number in _BOB else "ann"


_PLACES = (
    ListTuples(None),
    ListTuples(THREAD),
    ListTuples(THREAD, ""),
    ListTuples(THREAD, _NESTED),
    ListTuples(THREAD, "", 3),
)
_FILTERS: tuple[dict[str, Any] | None, ...] = (
    None,
    {},
    {"user_id": "ann"},
    {"user_id": "bob", "source": "loop"},
    {"source": "loop", "user_id": "bob", "step": 3},
    {"user_id": "nobody"},
)
_BEFORES = (None, 3, 6)
"""Bounds of listings, as checkpoint numbers; None for no bound."""


def questions(limit: int | None) -> Program:
    """Return a program that lists a small store with every place, filter and bound, and this
    limit.
    """
    return (
        *_stored(),
        *(
            replace(place, filter=filter_, before=before, limit=limit)
            for place, filter_, before in product(_PLACES, _FILTERS, _BEFORES)
        ),
    )
