"""Requests to the process that probes targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from saverproof.process.requests import Request, Service, as_it_is
from saverproof.savers.facts import Facts
from saverproof.savers.targets.reference import TargetRef
from saverproof_faults.servers.keeper_client import Need


@dataclass(frozen=True, slots=True)
class Unknown:
    """A target to probe, and a scratch folder for its workspaces.

    ``keepers`` are those of the run's servers: see ``saverproof_faults.servers.keeper_client``.
    """

    ref: TargetRef
    folder: str
    keepers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the request that ``asdict`` converted."""
        return cls(TargetRef.from_json(data["ref"]), data["folder"], data["keepers"])


@dataclass(frozen=True, slots=True)
class Written:
    """A workspace with a checkpoint that another process is to read through ``api``."""

    ref: TargetRef
    workspace: Mapping[str, Any]
    api: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the request that ``asdict`` converted."""
        return cls(**{**data, "ref": TargetRef.from_json(data["ref"])})


PROBING = Service(f"{__package__}")
"""The service that runs ``python -m saverproof.savers.targets``."""

NEED: Request[TargetRef, Any] = Request(
    PROBING, "need", TargetRef.from_json, lambda answer: answer and Need.from_json(answer)
)
"""The server that a target needs (``Need``), or None."""
PROBE: Request[Unknown, Facts] = Request(PROBING, "probe", Unknown.from_json, as_it_is)
LOOK: Request[Written, bool] = Request(PROBING, "look", Written.from_json, bool)
"""The question whether a second process sees what a first one wrote."""
FORGETS = "durable=False"
"""The hint in messages about a saver that does not keep its data."""
