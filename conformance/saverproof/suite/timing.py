"""Estimates how long a run takes from what the probe measured, and plans the items' seconds.

The figures were measured with the bundled saver. They are rough: a saver that is wrong, or lists
slowly, takes longer, but an item keeps its limit nevertheless. What a saver breaks is not known in
advance, so no estimate includes the search for its flaws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from saverproof.savers.facts import Facts

LIMITS_S = {"quick": 180.0, "default": 480.0, "deep": 7_200.0}
"""Seconds of a run without ``--saver-budget``, by profile. Only slow savers are held to them."""
_SLOW_CALL_MS = 10.0
"""Milliseconds of an operation from which a saver counts as slow."""
_SLOW_OPENING_MS = 120.0
"""Milliseconds of an opening from which a saver counts as slow. A local one on a busy machine takes
much less.
"""
_COLD_MS = 0.2
"""Milliseconds by which a probed call is slower than a call in a run, where the code is warm."""
_FAILED_IN_SERVERS = ("atomicity", "durability")
_IN_SERVERS = 2.0
"""The factor for families that fail and kill a server's connections as well."""
_AROUND = 1.2
"""The factor for what a run takes besides the saver and the programs. Other processes want a share
of a core too.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an item: the kit's own seconds, calls of the saver, and openings."""

    own_s: float
    calls: float
    opens: float

    def seconds(self, facts: Facts) -> float:
        """Return the cost in seconds, for a saver that the probe has measured."""
        probed_ms, open_ms = facts.get("call_ms", 0.0), facts["opens_ms"]
        call_ms = max(probed_ms - _COLD_MS, probed_ms / 2)
        return _AROUND * (self.own_s + (self.calls * call_ms + self.opens * open_ms) / 1_000)

    def times(self, factor: float) -> Cost:
        """Return the cost multiplied by a factor."""
        return Cost(factor * self.own_s, factor * self.calls, factor * self.opens)


_DEFAULT: Mapping[str, Cost] = {
    "interface": Cost(0.5, 1_800, 5),
    "ordering": Cost(0.6, 6_400, 48),
    "upsert": Cost(0.6, 2_900, 30),
    "pending-writes": Cost(0.2, 2_300, 25),
    "identity": Cost(0.4, 5_800, 50),
    "serialization": Cost(1.2, 10_300, 40),
    "channels": Cost(0.3, 4_200, 90),
    "isolation": Cost(0.9, 12_200, 180),
    "filter": Cost(0.3, 8_700, 25),
    "deletion": Cost(0.5, 17_400, 75),
    "delta-history": Cost(0.3, 23_800, 35),
    "parity": Cost(0.4, 4_500, 45),
    "lifecycle": Cost(0.4, 9_900, 130),
    "expiry": Cost(0.1, 40, 2),
    "graph": Cost(2.8, 4_300, 11),
    "cost": Cost(3.0, 10_900, 60),
    "resources": Cost(1.8, 12_900, 165),
    "atomicity": Cost(18.0, 17_400, 1_650),
    "durability": Cost(11.0, 6_600, 690),
    "concurrency": Cost(18.0, 1_100, 67),
    "upgrade": Cost(24.0, 17_000, 90),
}
"""The cost of each family through one API, at the default profile."""
_QUICK = {
    "isolation": 0.9,
    "graph": 0.4,
    "cost": 0.8,
    "atomicity": 0.25,
    "durability": 0.25,
    "concurrency": 0.8,
    "upgrade": 0.5,
}
_DEEP = {
    "graph": 40.0,
    "cost": 3.0,
    "resources": 6.0,
    "atomicity": 8.0,
    "durability": 5.0,
    "concurrency": 12.0,
    "upgrade": 4.0,
}
_LEAST: Mapping[str, Cost] = {
    "ordering": Cost(0.4, 2_900, 45),
    "upsert": Cost(0.3, 1_400, 35),
    "pending-writes": Cost(0.15, 1_000, 30),
    "identity": Cost(0.25, 2_400, 45),
    "serialization": Cost(0.6, 3_000, 40),
    "channels": Cost(0.2, 2_000, 60),
    "isolation": Cost(0.6, 9_600, 150),
    "filter": Cost(0.2, 2_700, 30),
    "deletion": Cost(0.2, 4_500, 50),
    "delta-history": Cost(0.15, 4_800, 30),
    "parity": Cost(0.3, 1_800, 40),
    "lifecycle": Cost(0.2, 1_500, 75),
    "expiry": Cost(0.1, 40, 2),
    "graph": Cost(0.6, 150, 2),
    "cost": Cost(0.3, 2_300, 1),
    "resources": Cost(0.4, 1_800, 1),
    "atomicity": Cost(1.5, 2_600, 170),
    "durability": Cost(3.5, 1_600, 200),
    "concurrency": Cost(4.0, 500, 40),
}
"""The cost of what is never left out: directed programs, clean runs, one fault of each kind, and a
short program of each theme.
"""
_LEAST_OF_OTHERS = Cost(0.3, 400, 12)
"""The guessed cost of what is never left out, for families that are not listed above."""
_UNKNOWN = Cost(1.0, 500, 10)
"""The guessed cost of an item of a family that is not listed above."""


def seconds_of(family: str, cost: Cost, facts: Facts) -> float:
    """Return the seconds of a family's item, for a saver that the probe has measured."""
    on_server = facts.get("on_server", False) and family in _FAILED_IN_SERVERS
    return cost.seconds(facts) * (_IN_SERVERS if on_server else 1.0)


def cost_of(family: str, profile: str) -> Cost:
    """Return the cost of one item of a family; for families of other distributions it is a
    guess.
    """
    known = _DEFAULT.get(family, _UNKNOWN)
    match profile:
        case "quick":
            return known.times(_QUICK.get(family, 0.6))
        case "deep":
            return known.times(_DEEP.get(family, 12.0))
        case _:
            return known


def least_of(family: str, profile: str) -> Cost:
    """Return the cost of the part of an item that is never left out."""
    least = _LEAST.get(family, _LEAST_OF_OTHERS)
    whole = cost_of(family, profile)
    return least if least.calls < whole.calls else whole


def item_name(family: str, api: str) -> str:
    """Return an item's name in a plan."""
    return f"{family}:{api}"


@dataclass(frozen=True, slots=True)
class TimePlan:
    """The time of one saver's items.

    ``whole_s`` is the estimate without limits, ``estimate_s`` the one with the limits in ``items``.
    An item that is missing there has no limit.
    """

    whole_s: float
    estimate_s: float
    items: Mapping[str, float]

    @property
    def is_limited(self) -> bool:
        """True if something has to be left out."""
        return bool(self.items)


def time_plan(
    facts: Facts,
    planned: Iterable[tuple[str, str]],
    profile: str,
    limit_s: float | None,
    workers: int,
) -> TimePlan:
    """Return the seconds of each item, so that a slow saver's run ends within its limit.

    Without ``limit_s`` the profile's limit counts, but only for a slow saver: the speed of the
    machine must not decide what is judged.
    """
    pairs = list(planned)
    costs = {item_name(f, api): seconds_of(f, cost_of(f, profile), facts) for f, api in pairs}
    least = {item_name(f, api): seconds_of(f, least_of(f, profile), facts) for f, api in pairs}
    whole = sum(costs.values())
    limit = workers * (limit_s if limit_s is not None else LIMITS_S[profile])
    slow = facts.get("call_ms", 0.0) >= _SLOW_CALL_MS or facts["opens_ms"] >= _SLOW_OPENING_MS
    if whole <= limit or (limit_s is None and not slow):
        return TimePlan(whole / workers, whole / workers, {})
    least_s = sum(least.values())
    # A limit below what is never left out leaves nothing to share.
    share = max(limit - least_s, 0.0) / max(whole - least_s, 1e-9)
    items = {name: least[name] + share * (costs[name] - least[name]) for name in costs}
    return TimePlan(whole / workers, sum(items.values()) / workers, items)


def in_words(seconds: float) -> str:
    """Return a duration in words, rounded."""
    if seconds < 90:
        return f"{max(round(seconds / 5) * 5, 5)} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
