"""The answers of families: about a recorded violation, and about the journal of a dead process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from saverproof.contracts.family_table import FamilyTable


class Status(StrEnum):
    """The state of a flaw that was recorded."""

    FIXED = "fixed"
    FAILING = "still failing"
    UNCLEAR = "cannot run"
    NOT_SEEN = "not seen again"
    """The flaw depends on timing, so it may still be there although it was not seen."""


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The answer about a recorded violation.

    ``said`` is one line for people. ``expected`` and ``observed`` are filled if the flaw still
    shows. The answer becomes JSON by ``asdict``, and is read back by ``from_json``.
    """

    status: Status
    said: str
    expected: str = ""
    observed: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make an answer from the result of ``asdict``."""
        return cls(**{**data, "status": Status(data["status"])})


def unclear(why: object) -> ReplayAnswer:
    """Return the answer that nothing is known, because of ``why``."""
    return ReplayAnswer(Status.UNCLEAR, str(why))


def not_seen(tries: int, how: str = "") -> ReplayAnswer:
    """Return the answer that a flaw, which depends on timing, did not show in ``tries`` tries.

    ``how`` says what was tried.
    """
    times = "1 try" if tries == 1 else f"{tries} tries"
    said = f"not seen again in {times}{f' of {how}' if how else ''}, which proves nothing"
    return ReplayAnswer(Status.NOT_SEEN, said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """The fields of a finding that follow from a journal.

    No contract ("") is blamed if the death breaks none of the family's: ``why`` says so.
    """

    contract: str
    why: str = ""
    steps: tuple[str, ...] = ()
    program: Any = None
    reproducer: str = ""
    fatal: str = ""
    """The kind of the step in which the process died, if the family can be judged without such
    steps.
    """
    of_one_contract: bool = False
    """True if steps of that kind serve one contract alone. `delete_thread` serves several."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a blame from the result of ``asdict``."""
        return cls(**{**data, "steps": tuple(data["steps"])})

    @classmethod
    def first(cls, table: FamilyTable, journal: Sequence[Any]) -> Self:
        """Blame the family's first contract, since the journal does not tell its contracts
        apart.
        """
        return cls(contract=table.contracts[0].id, program=list(journal))
