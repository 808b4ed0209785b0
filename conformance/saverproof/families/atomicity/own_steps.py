"""Steps and invariants of an author in programs with faults.

A rule is taken on two savers, the one that is failed and the one beside it, so that it acts on
whichever it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from saverproof.families.machines.own_rules import OwnAdditions
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import OwnStep
from saverproof.savers.execution.driver import ApiDriver


class OwnFaultSteps(Protocol):
    """What an author has added to a machine of faults."""

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Why a step may not be taken now, or None if it may."""
        ...

    def perform(self, step: OwnStep, driver: ApiDriver, model: Model) -> object:
        """Take a step on a saver; raises what the rule raises."""
        ...

    def invariants(
        self, driver: ApiDriver, model: Model
    ) -> Iterable[tuple[str, Callable[[], object]]]:
        """The invariants: the id of each, and a look at a saver that raises if it is broken."""
        ...


class StandInMachine(OwnAdditions):
    """A machine that can stand for any saver: its author's steps act on that one."""

    standing_for: tuple[ApiDriver | None, Model] | None


class OwnStepsOfMachine:
    """The author's steps of a class of machines."""

    def __init__(self, machine: type[StandInMachine]) -> None:
        self._class = machine

    def _standing_for(self, driver: ApiDriver | None, model: Model) -> StandInMachine:
        machine: StandInMachine = object.__new__(self._class)
        machine.standing_for = driver, model
        return machine

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Why a step may not be taken now, or None if it may."""
        return self._standing_for(None, model).objection(step)

    def perform(self, step: OwnStep, driver: ApiDriver, model: Model) -> object:
        """Take a step on a saver; raises what the rule raises."""
        return self._standing_for(driver, model).perform(step)

    def invariants(
        self, driver: ApiDriver, model: Model
    ) -> Iterable[tuple[str, Callable[[], object]]]:
        """The invariants: the id of each, and a look at a saver that raises if it is broken."""
        return self._standing_for(driver, model).invariants_of_author()
