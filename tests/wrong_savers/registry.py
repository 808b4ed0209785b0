"""The record of a deliberately wrong saver, and the decorator that registers one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from tests.reference.store import Store

BOTH = ("sync", "async")


class WorkspaceLike(Protocol):
    """What an opener needs of a workspace."""

    @property
    def path(self) -> Path: ...


class Openable(Protocol):
    """A saver class that can be opened on a folder."""

    @classmethod
    def at(cls, path: Path) -> Self: ...

    def setup(self) -> None: ...

    def close(self) -> None: ...


Opener: TypeAlias = Callable[[WorkspaceLike], AbstractContextManager[BaseCheckpointSaver[Any]]]
SaverClass = TypeVar("SaverClass", bound=type)


@dataclass(frozen=True)
class WrongSaver:
    """A saver with one mistake.

    `breaks` is the contract that the kit must blame; `also` are the contracts that follow from the
    mistake and may be blamed beside it; `apis` are the APIs that show it; `hangs` says that a call
    never returns by itself; `heavy` that the flaw shows beyond a size that takes
    seconds to reach; `setup` is false for a saver whose opener does not set it up.
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
        """Forget what the workspace held in memory."""
        Store.forget(workspace.path)


REGISTERED: list[WrongSaver] = []


def opener(saver: Any, *, setup: bool = True) -> Opener:
    """Return the target function of a saver class: a context manager that takes a workspace.

    Without `setup` the saver is opened as it is.
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


def wrong(
    breaks: str,
    note: str,
    *,
    also: Collection[str] = (),
    apis: tuple[str, ...] = BOTH,
    hangs: bool = False,
    heavy: bool = False,
    setup: bool = True,
) -> Callable[[SaverClass], SaverClass]:
    """Register a saver class as wrong; its name is the class name in kebab case."""

    def register(saver: SaverClass) -> SaverClass:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", saver.__name__).lower()
        if any(known.name == name for known in REGISTERED):
            raise ValueError(f"wrong saver: found {name!r} twice, expected a name of its own")
        REGISTERED.append(
            WrongSaver(
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
