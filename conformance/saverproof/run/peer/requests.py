"""The request to the process that runs LangGraph's own suite."""

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
        """Make a plan from the result of ``asdict``."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class PeerVerdict:
    """The verdict of LangGraph's own suite, in its own words.

    Attributes:
        level: FULL, BASE+PARTIAL, BASE or NONE.
        passed: number of detected capabilities that passed.
        detected: number of capabilities that the suite detected.
        missing: the capabilities that it did not detect.
        tests: each test that ran -> the first line of its failure, or "" if it passed.
    """

    level: str
    passed: int
    detected: int
    missing: tuple[str, ...]
    tests: dict[str, str]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a verdict from the result of ``asdict``."""
        return cls(**{**data, "missing": tuple(data["missing"])})


PEER = Service(f"{__package__}")
"""The process in which LangGraph's own suite runs: ``python -m saverproof.run.peer``."""

VALIDATE: Request[PeerPlan, PeerVerdict] = Request(
    PEER, "validate", PeerPlan.from_json, PeerVerdict.from_json
)
