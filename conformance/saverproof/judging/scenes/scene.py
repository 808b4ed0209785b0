"""The base class of scenes: rare kinds of step that are examples by themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact
from saverproof.programs.legality import objection
from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Step
from saverproof.programs.steps.describing import words
from saverproof.scripts.statements import NoScriptError, write
from saverproof.scripts.writer import ScriptWriter


class Scene(Step, ABC, abstract=True):
    """A rare kind of step, whose class has everything about it.

    A scene is also the look for what it shows by itself (:class:`saverproof.judging.facts.Look`).
    """

    __slots__ = ()

    about: ClassVar[Contract]
    """The contract that is broken if anything differs after the scene."""

    @property
    def contract(self) -> Contract:
        """The contract of this scene; subclasses override it if it depends on what is played."""
        return self.about

    def contract_of(self, fact: Fact) -> Contract:
        """Return the contract that is broken if this fact differs after the scene."""
        del fact
        return self.contract

    @abstractmethod
    def words(self) -> str:
        """Return one line that says what happens."""

    @abstractmethod
    def play(self, context: Context) -> None:
        """Play the scene on the saver and in the model, and note the facts."""

    def compare(
        self, context: Context, fact: Fact, address: Address | None, expected: Any, observed: Any
    ) -> None:
        """Compare what the scene shows by itself with what is expected, and note the fact."""
        if expected == observed:
            context.facts.agree(self.contract_of(fact))
        else:
            context.facts.by(self).differ(fact, address, expected, observed)

    def write(self, writer: ScriptWriter) -> None:
        """Write the scene into a script, as one step among others.

        Raises:
            NoScriptError: the scene has no statements.
        """
        raise NoScriptError(f"no statements for a {type(self).__name__} step")

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the scene into a script, with the complaint about what it shows by itself.

        Raises:
            NoScriptError: the scene shows nothing by itself.
        """
        raise NoScriptError(f"no check of {difference.fact!r} in {type(self).__name__}")

    def objection(self, model: Model) -> str | None:
        """Return why the scene may not be played now, or None if it may."""
        return None

    def plain(self) -> Step | None:
        """Return the ordinary step that stands for the scene in a simpler program; None if none
        does.
        """
        return None


@words.register
def _(step: Scene) -> str:
    return step.words()


@objection.register
def _(step: Scene, model: Model) -> str | None:
    return step.objection(model)


@write.register
def _(step: Scene, writer: ScriptWriter) -> None:
    step.write(writer)
