"""The messages on a connection to a keeper: one line of JSON each."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class WantedPlace:
    """The first line of a connection.

    It asks for a place of the connection's own, for the place that a ``label`` shares, or for an
    existing place by its ``name``.
    """

    label: str | None = None
    name: str | None = None


class Deed(StrEnum):
    """The action of an order, in a place or on the server.

    ``END_SESSIONS`` is ``Places.end_sessions``; ``WATCH``, ``WRITTEN``, ``FAIL`` and ``HAS_FAILED``
    are the methods of ``RefusesWrites``. ``RESTART`` kills the server and starts it again, and
    ``READY`` waits for that. ``FREEZE`` stops it until ``THAW``. ``FAIL_OVER`` starts a server
    behind a proxy at another port.
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
    """Every further line of a connection.

    ``number``, ``how`` and ``what`` are those of ``fail_write``.
    """

    deed: Deed
    number: int = 0
    how: str = ""
    what: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make an order from the result of ``asdict``."""
        return cls(**{**data, "deed": Deed(data["deed"])})


def telling(address: str, deed: Deed) -> tuple[str, ...]:
    """Return the address of a keeper, and the lines that give it one order about its server.

    With ``RESTART`` the keeper answers before it starts the server again.
    """
    lines = (asdict(WantedPlace(name="")), asdict(Order(deed)))
    return (address, *map(json.dumps, lines))
