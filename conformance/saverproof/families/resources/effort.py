"""Says how often each kind of work is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from saverproof.families.resources.work import FirstGets, Openings, UnknownThreads, Work
from saverproof.savers.facts import Facts

_TIMES = {"quick": (10, 40, 160), "default": (10, 40, 160), "deep": (10, 100, 1_000)}
"""The repetitions after which the held resources are counted. After ten, pools and caches have
begun to fill. Forty show what leaks each time, and the last number shows what leaks once in ten.
"""
_OPENINGS = {"quick": (4, 12, 36), "default": (4, 12, 36), "deep": (10, 30, 100)}
_PATIENCE_S = {"quick": 4.0, "default": 8.0, "deep": 120.0}
_CALLS: Mapping[type[Work], int] = MappingProxyType({UnknownThreads: 16, FirstGets: 9})
"""Calls of one repetition, where they are more than the usual four."""


def times_of(work: type[Work], profile: str, facts: Facts) -> tuple[int, ...]:
    """Return how often a kind of work is repeated before each look; ``facts`` are what the probe
    found out about the saver.
    """
    if work is Openings:
        times, each_ms = _OPENINGS[profile], facts["opens_ms"]
    else:
        calls = _CALLS.get(work, 4)
        times, each_ms = _TIMES[profile], calls * facts.get("call_ms", 0.0)
    if times[-1] * each_ms > 1_000 * _PATIENCE_S[profile]:
        return tuple(count // 2 for count in times) if work is Openings else (10, 20, 40)
    return times
