"""What was seen of a saver in one trial, from the operation to a last look after it was closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from saverproof.errors import describe
from saverproof.savers.execution.view import Snapshot


class OperationEnding(StrEnum):
    """How the operation ended."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "was cancelled"
    UNANSWERED = "never returned"

    @classmethod
    def of(cls, error: BaseException | None) -> Self:
        """Return the ending of an operation that raised this error, or returned if it is None."""
        return cls("returned" if error is None else "raised")


class Viewpoint(StrEnum):
    """When a look was taken, and by whom."""

    OWN = "the same saver"
    FRESH = "a fresh saver"
    OWN_LATER = "the same saver, after an unrelated write"
    FRESH_LATER = "a fresh saver, after an unrelated write"
    REVIVED = "the same saver, after missing checkpoints were put again"
    RETRIED = "the same saver, after the operation was called again"
    CLOSED = "a fresh saver, once the first one was closed"


@dataclass(slots=True)
class TrialObservation:
    """What was seen in a trial, filled in as the trial goes on. What was not looked at is None.

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
        """Whether the operation returned."""
        return self.ending is OperationEnding.RETURNED

    @property
    def said(self) -> str:
        """How the operation ended, and with which error."""
        return f"{self.ending} {self.error}".strip()

    def ended(self, error: BaseException | None) -> None:
        """Record that the operation raised this error, or returned if it is None."""
        self.ending = OperationEnding.of(error)
        self.error = "" if error is None else describe(error)
