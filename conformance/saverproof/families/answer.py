"""What families answer: of a recorded violation, and of the journal of a process that died."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from saverproof.contracts.family_table import FamilyTable


class Status(StrEnum):
    """Whether the flaw is still there."""

    FIXED = "fixed"
    FAILING = "still failing"
    UNCLEAR = "cannot run"
    NOT_SEEN = "not seen again"
    """It hangs on timing, so that not to see it proves nothing."""


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """``said`` is one line for people; ``expected`` and ``observed`` are there if it still fails.

    Plain data: JSON both ways by ``asdict`` and ``from_json``.
    """

    status: Status
    said: str
    expected: str = ""
    observed: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The answer that ``asdict`` gave."""
        return cls(**{**data, "status": Status(data["status"])})


def unclear(why: object) -> ReplayAnswer:
    """The answer if nothing can be said."""
    return ReplayAnswer(Status.UNCLEAR, str(why))


def not_seen(tries: int, how: str = "") -> ReplayAnswer:
    """The answer if what hangs on timing did not show in so many tries; ``how`` says of what."""
    times = "1 try" if tries == 1 else f"{tries} tries"
    said = f"not seen again in {times}{f' of {how}' if how else ''}, which proves nothing"
    return ReplayAnswer(Status.NOT_SEEN, said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """The fields of a finding that follow from a journal."""

    contract: str
    steps: tuple[str, ...] = ()
    program: Any = None
    reproducer: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The blame that ``asdict`` gave."""
        return cls(**{**data, "steps": tuple(data["steps"])})

    @classmethod
    def first(cls, table: FamilyTable, journal: Sequence[Any]) -> Self:
        """That of a family whose journal does not tell its contracts apart: the first of them."""
        return cls(contract=table.contracts[0].id, program=list(journal))
