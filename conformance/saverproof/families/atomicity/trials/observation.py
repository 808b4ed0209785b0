"""The record of one trial: all that was seen of a saver, from the operation to a last look after
closing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from saverproof.errors import describe
from saverproof.savers.execution.view import Snapshot


class OperationEnding(StrEnum):
    """The ways in which an operation ends."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "was cancelled"
    UNANSWERED = "never returned"

    @classmethod
    def of(cls, error: BaseException | None) -> Self:
        """Return the ending of an operation that raised this error, or returned if it is None."""
        return cls("returned" if error is None else "raised")


class Viewpoint(StrEnum):
    """The times at which looks are taken, and the savers that take them."""

    OWN = "the same saver"
    FRESH = "a fresh saver"
    OWN_LATER = "the same saver, after an unrelated write"
    FRESH_LATER = "a fresh saver, after an unrelated write"
    REVIVED = "the same saver, after missing checkpoints were put again"
    RETRIED = "the same saver, after the operation was called again"
    CLOSED = "a fresh saver, once the first one was closed"


@dataclass(slots=True)
class TrialObservation:
    """The record of a trial, filled in as the trial goes on. A field is None if nobody looked.

    ``has_fired`` tells whether the fault fired if the operation never returns. ``problems`` are
    failures of what should have worked, by what was tried. ``hung`` says which call never returned.
    ``locked`` names the databases that no second connection could write to, ``changed`` the tables
    that differ for a second connection, and ``transactions`` those that were left open. ``whole``
    says that no look was left out because of an earlier one.
    """

    ending: OperationEnding = OperationEnding.RETURNED
    error: str = ""
    fired: bool = False
    has_fired: Callable[[], bool] = lambda: False
    note: str = ""
    locked: tuple[str, ...] = ()
    transactions: tuple[str, ...] = ()
    changed: tuple[str, ...] | None = None
    snapshots: dict[Viewpoint, Snapshot] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    retry: OperationEnding | None = None
    whole: bool = False
    hung: str = ""

    @property
    def returned(self) -> bool:
        """True if the operation returned."""
        return self.ending is OperationEnding.RETURNED

    @property
    def said(self) -> str:
        """The ending of the operation in words, with its error."""
        return f"{self.ending} {self.error}".strip()

    def ended(self, error: BaseException | None) -> None:
        """Record that the operation raised this error, or returned if it is None."""
        self.ending = OperationEnding.of(error)
        self.error = "" if error is None else describe(error)
