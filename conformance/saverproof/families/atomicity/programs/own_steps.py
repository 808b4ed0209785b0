"""Takes an author's steps and invariants in programs with faults.

A rule is taken twice: on the saver that fails, and on the one beside it. It acts on the saver that
it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from saverproof.families.machines.own_rules import OwnAdditions
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import OwnStep
from saverproof.savers.execution.driver import ApiDriver


class OwnFaultSteps(Protocol):
    """An author's steps and invariants in a machine of faults."""

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Return why a step may not be taken now, or None if it may."""
        ...

    def perform(self, step: OwnStep, driver: ApiDriver, model: Model) -> object:
        """Take a step on a saver. Raises what the rule raises."""
        ...

    def invariants(
        self, driver: ApiDriver, model: Model
    ) -> Iterable[tuple[str, Callable[[], object]]]:
        """Return the invariants: the id of each, and a function that looks at a saver and raises if
        the invariant is broken.
        """
        ...


class StandInMachine(OwnAdditions):
    """A machine that can stand for any saver: its author's steps act on that saver."""

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
        """Return why a step may not be taken now, or None if it may."""
        return self._standing_for(None, model).objection(step)

    def perform(self, step: OwnStep, driver: ApiDriver, model: Model) -> object:
        """Take a step on a saver. Raises what the rule raises."""
        return self._standing_for(driver, model).perform(step)

    def invariants(
        self, driver: ApiDriver, model: Model
    ) -> Iterable[tuple[str, Callable[[], object]]]:
        """Return the invariants: the id of each, and a function that looks at a saver and raises if
        the invariant is broken.
        """
        return self._standing_for(driver, model).invariants_of_author()
