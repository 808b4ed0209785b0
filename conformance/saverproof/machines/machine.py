"""The public state machine: subclass it, name a target, and add rules and bundles of your own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import ClassVar, Protocol

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from saverproof.execution.store import Store
from saverproof.judging.session import Breach, Session
from saverproof.model.store import Model
from saverproof.programs.legality import objection
from saverproof.programs.makers import batches, checkpoints, reads
from saverproof.programs.theme import Maker, Theme
from saverproof.steps.definitions import Program, Step
from saverproof.steps.describing import describe
from saverproof.targets.event_loop import EventLoop
from saverproof.targets.target import Target
from saverproof.values import show

__all__ = ["CHOICES", "ContractBroken", "SaverMachine", "making_rule"]

CHOICES = st.randoms(use_true_random=False, note_method_calls=False)
"""What rules draw: choices that Hypothesis controls, through the interface of ``random.Random``."""


class Making(Protocol):
    """A machine that takes the steps of makers."""

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that the maker makes."""
        ...


class ContractBroken(AssertionError):  # noqa: N818 (named by what happened)
    """A saver broke a contract; ``breaches`` and ``program`` say which, and by which steps."""

    def __init__(self, breaches: tuple[Breach, ...], program: Program) -> None:
        lines = [
            f"{b.contract}: expected {show(b.difference.expected)}, "
            f"observed {show(b.difference.observed)}"
            for b in breaches
        ]
        super().__init__("\n".join([*lines, "after:", *map(describe, program)]))
        self.breaches = breaches
        self.program = program


def making_rule(maker: Maker) -> Callable[..., None]:
    """A rule that asks a maker for a step and takes it; bind it to a class attribute."""

    def make(self: Making, choose: Random) -> None:
        self.make(maker, choose)

    make.__name__ = maker.__name__
    ruled: Callable[..., None] = rule(choose=CHOICES)(make)
    return ruled


class SaverMachine(RuleBasedStateMachine):
    """Runs a saver and the model side by side; subclass it to add rules of your own.

    Set ``target``, and ``contracts`` to the ids to be enforced (empty: all of them). ``take`` runs
    any step; ``self.session`` gives the model and the open saver::

        class Mine(SaverMachine):
            target = my_saver

            @rule(thread=st.sampled_from("ab"))
            def vacuum(self, thread):
                self.session.store.saver.vacuum()
                self.take(GetTuple(thread))

        TestMine = Mine.TestCase

    Raises:
        ContractBroken: the saver broke an enforced contract.
    """

    target: ClassVar[Target]
    apis: ClassVar[tuple[str, ...]] = ("sync",)
    theme: ClassVar[Theme] = Theme("general")
    contracts: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._resources = ExitStack()
        folder = Path(tempfile.mkdtemp(prefix="saverproof-"))
        self._resources.callback(shutil.rmtree, folder, ignore_errors=True)
        loop = EventLoop()
        self._resources.callback(loop.close)
        store = self._resources.enter_context(Store(self.target, folder, loop, self.apis))
        self.session = Session(store, thorough=False)

    @property
    def model(self) -> Model:
        """What a right saver would hold now."""
        return self.session.model

    def take(self, step: Step) -> None:
        """Take one step and judge it."""
        self.judge(self.session.take(step))

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that a maker makes, if it has one for this moment."""
        step = maker(self.model, choose, self.theme)
        if step is not None and objection(step, self.model) is None:
            self.take(step)

    def judge(self, breaches: list[Breach]) -> None:
        """Raise if an enforced contract was broken."""
        broken = [b for b in breaches if not self.contracts or b.contract in self.contracts]
        if broken:
            raise ContractBroken(tuple(broken), tuple(self.session.taken))

    def teardown(self) -> None:
        """Look at the whole store once more, and close it."""
        try:
            self.judge(self.session.finish())
        finally:
            self._resources.close()

    put = making_rule(checkpoints.put)
    put_again = making_rule(checkpoints.put_again)
    put_replacing = making_rule(checkpoints.put_replacing)
    writes = making_rule(batches.writes)
    writes_again = making_rule(batches.writes_again)
    get = making_rule(reads.get)
    list_tuples = making_rule(reads.list_)
