"""The record of a right saver of unusual design, and the decorator that registers one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.mistakes.registry import BOTH, Opener, WorkspaceLike, opener

SaverClass = TypeVar("SaverClass", bound=type)
PLAIN = {
    "cost/put": "the plain savers store a checkpoint whole, with what has not changed",
    "cost/page": "the plain savers choose the checkpoints of a page in Python",
    "cost/filter": "the plain savers filter in Python, by whole checkpoints",
    "cost/delete": "the plain savers have no index of runs; those in memory have none of threads",
    "cost/prune": "as for deleting",
    "cost/copy": "as for deleting",
    "cost/bytes-per-step": "as for putting",
}
"""Advice that the savers do not follow which most of these are made of."""

ON_THE_LOOP = {
    "concurrency/loop-goes-on": "the plain savers' async methods are their sync ones, called where "
    "they are awaited: what is judged of them so is judged in a fraction of the time"
}
"""What most of these would be accused of, although they are right in all that they are here for."""


@dataclass(frozen=True)
class RightSaver:
    """A saver that keeps every promise, in a way of its own.

    `about` are the families, of those in which not all are judged by day, that its design puts to
    the test. `declines` are capabilities that it does without, `advice` the contracts of level
    `should` that it does not follow, `unjudged` those that nothing can be said of, each with the
    reason.
    """

    name: str
    note: str
    saver: Any
    make: Opener
    apis: tuple[str, ...] = BOTH
    durable: bool = True
    about: Set[str] = frozenset()
    declines: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)
    unjudged: Mapping[str, str] = field(default_factory=dict)

    def drop(self, workspace: WorkspaceLike) -> None:
        """Forget what the workspace held in memory."""
        ReferenceStore.forget(workspace.path)


REGISTERED: list[RightSaver] = []


def right(
    note: str,
    *,
    apis: tuple[str, ...] = BOTH,
    durable: bool = True,
    about: Set[str] = frozenset(),
    make: Opener | None = None,
    declines: Mapping[str, str] | None = None,
    advice: Mapping[str, str] | None = None,
    unjudged: Mapping[str, str] | None = None,
) -> Callable[[SaverClass], SaverClass]:
    """Register a saver class as right; its name is the class name in kebab case.

    `make` opens it where opening is part of what is unusual.
    """

    def register(saver: SaverClass) -> SaverClass:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", saver.__name__).lower()
        if any(known.name == name for known in REGISTERED):
            raise ValueError(f"right saver: found {name!r} twice, expected a name of its own")
        REGISTERED.append(
            RightSaver(
                name=name,
                note=note,
                saver=saver,
                make=make or opener(saver),
                apis=apis,
                durable=durable,
                about=about,
                declines=declines or {},
                advice={**PLAIN, **(advice or {})},
                unjudged=unjudged or {},
            )
        )
        return saver

    return register
