"""What a keeper is asked for on a connection to its socket: a line of JSON each."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class WantedPlace:
    """The first line: a place of one's own; the one with a label; or one that is there, by name."""

    label: str | None = None
    name: str | None = None


class Deed(StrEnum):
    """What can be done in a place: see ``Places.end_sessions`` and ``RefusesWrites``; or to the
    server: it can be killed, and starts again; whether it has is told by ``READY``. It can be made
    to stand still until ``THAW``. Behind a proxy it can be started at another port instead.
    """

    END_SESSIONS = "end-sessions"
    RESTART = "restart"
    READY = "ready"
    FAIL_OVER = "fail-over"
    FREEZE = "freeze"
    THAW = "thaw"
    WATCH = "watch"
    WRITTEN = "written"
    FAIL = "fail"
    HAS_FAILED = "has-failed"


@dataclass(frozen=True, slots=True)
class Order:
    """Every further line. ``number``, ``how`` and ``what`` are those of ``fail_write``."""

    deed: Deed
    number: int = 0
    how: str = ""
    what: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        return cls(**{**data, "deed": Deed(data["deed"])})


def telling(address: str, deed: Deed) -> tuple[str, ...]:
    """What to tell a keeper, and where, to have it kill its server (which is started after the
    answer), or make it stand still.
    """
    lines = (asdict(WantedPlace(name="")), asdict(Order(deed)))
    return (address, *map(json.dumps, lines))
