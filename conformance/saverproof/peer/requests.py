"""What the process that runs LangGraph's own suite can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from saverproof.process.requests import Request, Service


@dataclass(frozen=True, slots=True)
class PeerPlan:
    """A target (``TargetRef.to_json()``), the API to call, and a folder for its stores."""

    target: dict[str, Any]
    api: str
    folder: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class PeerVerdict:
    """What the suite says, in its own words.

    Attributes:
        level: FULL, BASE+PARTIAL, BASE or NONE.
        passed: how many of the capabilities that it detected it found right.
        detected: how many it detected.
        missing: the capabilities that it did not detect.
        tests: each test that ran, with the first line of its failure, "" if it passed.
    """

    level: str
    passed: int
    detected: int
    missing: tuple[str, ...]
    tests: dict[str, str]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        return cls(**{**data, "missing": tuple(data["missing"])})


PEER = Service(f"{__package__}")
"""``python -m saverproof.peer``."""

VALIDATE: Request[PeerPlan, PeerVerdict] = Request(
    PEER, "validate", PeerPlan.from_json, PeerVerdict.from_json
)
