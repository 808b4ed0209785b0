"""Finds what is held more and more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from saverproof.families.laws import Law
from saverproof.families.resources.holdings import KINDS, HeldContents
from saverproof.families.resources.measuring import ResourceMeasurement, contract_of
from saverproof.families.resources.work import Work


@dataclass(frozen=True, slots=True)
class Leak:
    """A kind of resource of which more is held after each repetition of a kind of work."""

    work: type[Work]
    kind: str
    law: Law
    first: HeldContents
    last: HeldContents
    origins: Mapping[str, str]

    @property
    def contract(self) -> str:
        """The contract that the leak breaks."""
        return contract_of(self.work)

    @property
    def summary(self) -> str:
        """The leak in one line."""
        more = self.law.last - self.law.first
        between = self.law.sizes[-1] - self.law.sizes[0]
        return f"{more:,} {KINDS[self.kind].unit} stay after {between:,} times {self.work.__doc__}"

    @property
    def whence(self) -> list[str]:
        """Return what was added since the first close look, the most of it first, and where
        descriptors were opened.
        """
        more = self.last.more_than(self.first, self.kind)
        places = dict.fromkeys(self.origins.values()) if self.kind == "descriptors" else {}
        return [*more, *(f"opened at {place}" for place in places)]

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: lower for what ends a process sooner."""
        return (list(KINDS).index(self.kind),)


@dataclass(frozen=True, slots=True)
class Exhaustion:
    """A kind of work that a saver can do only so often, while another saver on its store can."""

    work: type[Work]
    done: int
    error: str

    @property
    def contract(self) -> str:
        """The contract that the exhaustion breaks."""
        return contract_of(self.work)

    @property
    def summary(self) -> str:
        """The exhaustion in one line."""
        return f"{self.work.__doc__}: done {self.done:,} times, then it raises {self.error}"


def exhaustion(one: ResourceMeasurement, other: ResourceMeasurement) -> Exhaustion | None:
    """Return the exhaustion that two measurements of the same work show, each of a saver opened
    anew; None if they do not end alike, as after a failure that only chance brought.
    """
    if not one.done_elsewhere or one.done < one.work.fewest_done:
        return None
    if (one.done, one.error) != (other.done, other.error) or not other.done_elsewhere:
        return None
    return Exhaustion(one.work, one.done, one.error)


def leaks(measurements: Iterable[ResourceMeasurement]) -> list[Leak]:
    """Return the leaks, the worst first."""
    found = [
        Leak(one.work, kind, law, one.contents[0], one.contents[-1], one.origins)
        for one in measurements
        if not one.trouble
        for kind, law in one.leaks.items()
    ]
    return sorted(found, key=lambda leak: leak.rank)
