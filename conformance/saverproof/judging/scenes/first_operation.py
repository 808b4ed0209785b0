"""The scene of the first operation on a new store, which may be any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import lifecycle
from saverproof.errors import OpeningError
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model.store import Model
from saverproof.programs.operations import OPERATIONS
from saverproof.programs.theme import Theme
from saverproof.savers.execution.settled_calls import Calls
from saverproof.savers.execution.store import Store, set_up
from saverproof.savers.execution.versions import versions_of
from saverproof.scripts.statements import write
from saverproof.scripts.writer import ScriptWriter

FIRST_OPERATIONS = ("put", "put_writes", "get_tuple", "list")
"""The operations that every saver has."""


_RAISED = Fact("raised")


class _SetUpError(Exception):
    """The failure of the saver's own setup."""


@dataclass(frozen=True, slots=True)
class FirstOperation(Scene):
    """An operation that is the first on a new store, which is set up or not."""

    operation: str
    set_up: bool

    about: ClassVar[Contract] = lifecycle.ANY_FIRST_OPERATION
    calls_optional: ClassVar[bool] = True

    @property
    def contract(self) -> Contract:
        return self.about if self.set_up else lifecycle.ANY_FIRST_OPERATION_BEFORE_SETUP

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> FirstOperation:
        """Make an operation the first on a new store, set up or not."""
        del model, theme
        return FirstOperation(choose.choice(FIRST_OPERATIONS), choose.random() < 0.5)

    def words(self) -> str:
        set_up = "set up" if self.set_up else "not set up"
        return f"{self.operation}(…) as the first call on a new store, {set_up}"

    def play(self, context: Context) -> None:
        answer = context.attempt(lambda: self._call(context))
        if not isinstance(answer, Raised):
            context.facts.agree(self.contract)
            return
        expected, cause = f"{self.operation} to work on a new store", None
        if isinstance(answer.error, _SetUpError) and self._works_as_opened(context):
            # Opening has set the store up already.
            expected, cause = "the store to be set up again", Cause.SET_UP_ALREADY
        context.facts.differ(_RAISED, None, expected, answer, cause=cause)

    def _works_as_opened(self, context: Context) -> bool:
        unprepared = replace(self, set_up=False)
        return not isinstance(context.attempt(lambda: unprepared._call(context)), Raised)

    def _call(self, context: Context) -> None:
        own = context.store
        with Store(own.target, own.folder, own.loop, own.apis[:1]) as new:
            if self.set_up:
                _prepare(new)
            Calls(versions_of(new.saver)).make(new.drivers[0], OPERATIONS[self.operation])

    def write(self, writer: ScriptWriter) -> None:
        if self.set_up and writer.methods.setup:
            writer.say(writer.methods.setup)
        write(OPERATIONS[self.operation], writer)


def _prepare(store: Store) -> None:
    try:
        set_up(store.saver, store.loop)
    except OpeningError as error:
        raise _SetUpError(error.message) from error
