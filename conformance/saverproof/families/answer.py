"""What running a recorded violation again comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


class Status(StrEnum):
    """Whether the flaw is still there."""

    FIXED = "fixed"
    FAILING = "still failing"
    UNCLEAR = "cannot run"


@dataclass(frozen=True, slots=True)
class Answer:
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


def unclear(why: object) -> Answer:
    """The answer if nothing can be said."""
    return Answer(Status.UNCLEAR, str(why))
