"""What the test-bed needs of a saver with several flaws, whoever wrote it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from saverproof.contracts.registry import contract
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that a saver does wrong.

    Attributes:
        name: what it is called among the flaws of its saver.
        contract: the contract that it breaks.
        note: the flaw in a phrase, as its author would tell it.
    """

    name: str
    contract: str
    note: str


class FlawedSaver(Protocol):
    """A saver whose flaws are known, and of which each can be mended."""

    @property
    def name(self) -> str:
        """What it is called in reports."""

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """Its flaws."""

    @property
    def families(self) -> Sequence[str]:
        """The families in which it is judged."""

    def served(self) -> AbstractContextManager[Any]:
        """Run what it needs while it is judged."""

    def target(self, mended: Collection[str] = ()) -> Target:
        """The saver as a target, without the flaws of these names."""

    def facts(self) -> dict[str, Any]:
        """What judging has to know of it."""


def api_of(family: str) -> str:
    """The API through which a family is judged here: one is enough for most."""
    return "crossed" if family == "parity" else "sync"


def families_of(flaws: Collection[Flaw]) -> list[str]:
    """The families of the contracts that are broken, in the order of a run."""
    broken = {contract(flaw.contract).family for flaw in flaws}
    return [family for family in FUNCTIONAL_FAMILIES if family in broken]
