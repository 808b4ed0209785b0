"""The requests to the judge process. Importing this imports no family (see ``handlers``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.items import ItemPlan, Outcome
from saverproof.process.requests import Request, Service, as_it_is


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded violation: a finding's ``program``, with the plan by which it is replayed."""

    plan: ItemPlan
    contract: str
    program: Any

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a recorded violation from the result of ``asdict``."""
        return cls(ItemPlan.from_json(data["plan"]), data["contract"], data["program"])


@dataclass(frozen=True, slots=True)
class Death:
    """A judge process that died or hung; ``journal`` has the lines that it wrote, one or more."""

    plan: ItemPlan
    journal: tuple[Any, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a death from the result of ``asdict``."""
        return cls(ItemPlan.from_json(data["plan"]), tuple(data["journal"]))


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Workspaces that a killed process left behind; ``names`` are their folders' paths below the
    plan's.
    """

    plan: ItemPlan
    names: tuple[str, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make leftovers from the result of ``asdict``."""
        return cls(ItemPlan.from_json(data["plan"]), tuple(data["names"]))


JUDGING = Service(f"{__package__}")
"""The judge process: ``python -m saverproof.families``."""

JUDGE: Request[ItemPlan, Outcome] = Request(JUDGING, "judge", ItemPlan.from_json, Outcome.from_json)
BLAME: Request[Death, Blame] = Request(JUDGING, "blame", Death.from_json, Blame.from_json)
"""Blame a contract for a saver that ended or hung the process that judged it."""
REPLAY: Request[Recorded, ReplayAnswer] = Request(
    JUDGING, "replay", Recorded.from_json, ReplayAnswer.from_json
)
CLEAN: Request[Leftovers, None] = Request(JUDGING, "clean", Leftovers.from_json, as_it_is)
"""Drop workspaces that a killed process left behind."""
IS_SPENT: Request[None, bool] = Request(JUDGING, "is spent", as_it_is, bool)
"""Return whether a call that was given up may still return, and disturb the next item."""
RELEASE: Request[None, None] = Request(JUDGING, "release", as_it_is, as_it_is)
"""End the processes that are kept from one item to the next."""
