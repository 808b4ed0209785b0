"""The record of a first saver: its flaws by reading, and what mends each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from tests.conformance.judging_support import facts_of
from tests.crowds.flawed import Flaw

Mixin = TypeVar("Mixin", bound=type)
Opened = AbstractContextManager[BaseCheckpointSaver[Any]]


@dataclass(frozen=True)
class FirstSaver:
    """A saver as a newcomer writes it.

    Attributes:
        name: what it is called in reports.
        saver: the class, as it was first written.
        open: opens a class in a folder.
        served: runs what the saver needs while it is judged.
        durable: whether it keeps anything when it is closed.
        mends: each flaw with the class that mends it, to be put before the saver's.
        done: the flaws that are mended from the beginning.
        families: the families in which it is judged; a newcomer writes one API, so that there is
            nothing to compare.
    """

    name: str
    saver: type[BaseCheckpointSaver[Any]]
    open: Callable[[Any, Path], Opened]
    served: Callable[[], AbstractContextManager[Any]] = nullcontext
    durable: bool = True
    mends: dict[Flaw, type] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    families: tuple[str, ...] = tuple(name for name in FUNCTIONAL_FAMILIES if name != "parity")

    def mend(self, name: str, contract: str, note: str) -> Callable[[Mixin], Mixin]:
        """Register a class that mends a flaw; later ones come before earlier ones."""

        def register(mixin: Mixin) -> Mixin:
            self.mends[Flaw(name, contract, note)] = mixin
            return mixin

        return register

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """The flaws that are left."""
        return tuple(flaw for flaw in self.mends if flaw.name not in self.done)

    def but_for(self, name: str, left: Collection[str]) -> FirstSaver:
        """The same saver, mended but for some flaws."""
        done = frozenset(flaw.name for flaw in self.mends) - frozenset(left)
        return replace(self, name=name, done=done)

    def in_families(self, names: Collection[str]) -> FirstSaver:
        """The same saver, judged in these families alone."""
        return replace(self, families=tuple(names))

    def mended(self, names: Collection[str] = ()) -> type[BaseCheckpointSaver[Any]]:
        """The class without the flaws of these names."""
        mends = [mend for flaw, mend in self.mends.items() if flaw.name in {*self.done, *names}]
        return type(self.saver.__name__, (*reversed(mends), self.saver), {})

    def target(self, mended: Collection[str] = ()) -> Target:
        """The saver as a target, without the flaws of these names."""
        saver = self.mended(mended)

        @contextmanager
        def opened(workspace: Workspace) -> Iterator[BaseCheckpointSaver[Any]]:
            with self.open(saver, workspace.path) as one:
                yield one

        return Target(name=self.name, open=opened, durable=self.durable)

    def facts(self) -> dict[str, Any]:
        """What the probe finds out of it, by calling it."""
        with TemporaryDirectory() as folder:
            return facts_of(self.target(), Path(folder))
