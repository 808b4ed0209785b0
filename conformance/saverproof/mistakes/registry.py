"""Defines what a known mistake is, and the decorator that registers one.

A mistake is a subclass of the reference saver that overrides one or two hooks. Alone it is a wrong
saver, which the self-test must catch. Several of them together predict what a saver with all of
these mistakes answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.mistakes.reference.store import ReferenceStore

BOTH = ("sync", "async")


class WorkspaceLike(Protocol):
    """The part of a workspace that an opener needs."""

    @property
    def path(self) -> Path:
        """The folder of the workspace."""


class Openable(Protocol):
    """A saver class that can be opened on a folder."""

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the saver on the store for a path."""

    def setup(self) -> None:
        """Prepare the store."""

    def close(self) -> None:
        """Close the saver."""


Opener: TypeAlias = Callable[[WorkspaceLike], AbstractContextManager[BaseCheckpointSaver[Any]]]
SaverClass = TypeVar("SaverClass", bound=type)


@dataclass(frozen=True)
class Mistake:
    """A saver class with one mistake.

    Attributes:
        name: the class name in kebab case.
        breaks: the contract that the mistake breaks, and that must be blamed.
        note: the mistake in a phrase.
        saver: the class.
        make: opens the class on a workspace, as a target does.
        apis: the APIs that show it.
        also: contracts that are broken as a consequence, and may be blamed too.
        hangs: whether a call never returns by itself.
        heavy: whether it shows only at a size that takes seconds to reach.
        setup: whether the opener sets the saver up.
    """

    name: str
    breaks: str
    note: str
    saver: Any
    make: Opener
    apis: tuple[str, ...] = BOTH
    also: frozenset[str] = frozenset()
    hangs: bool = False
    heavy: bool = False
    setup: bool = True

    def drop(self, workspace: WorkspaceLike) -> None:
        """Drop what the workspace kept in memory."""
        ReferenceStore.forget(workspace.path)


REGISTERED: list[Mistake] = []


def opener(saver: Any, *, setup: bool = True) -> Opener:
    """Return the target function for a saver class: it takes a workspace, and is a context manager.

    Without ``setup`` the saver is opened and not set up.
    """

    @contextmanager
    def opened(workspace: WorkspaceLike) -> Iterator[BaseCheckpointSaver[Any]]:
        opened_saver = saver.at(workspace.path)
        if setup:
            opened_saver.setup()
        try:
            yield opened_saver
        finally:
            opened_saver.close()

    return opened


def mistake(
    breaks: str,
    note: str,
    *,
    also: Collection[str] = (),
    apis: tuple[str, ...] = BOTH,
    hangs: bool = False,
    heavy: bool = False,
    setup: bool = True,
) -> Callable[[SaverClass], SaverClass]:
    """Register a saver class as a mistake; see :class:`Mistake` for the arguments.

    Raises:
        ValueError: another class has the same name.
    """

    def register(saver: SaverClass) -> SaverClass:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", saver.__name__).lower()
        if any(known.name == name for known in REGISTERED):
            raise ValueError(f"mistake: found {name!r} twice, expected a name of its own")
        REGISTERED.append(
            Mistake(
                name=name,
                breaks=breaks,
                note=note,
                saver=saver,
                make=opener(saver, setup=setup),
                apis=apis,
                also=frozenset(also),
                hangs=hangs,
                heavy=heavy,
                setup=setup,
            )
        )
        return saver

    return register
