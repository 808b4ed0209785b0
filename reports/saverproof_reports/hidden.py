"""Musts that were not judged because wrong answers are in the way.

A run that is about a few contracts may see others broken. It fails for those that keep it from
judging what it was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from saverproof_reports.unsettled import entry_of

Data = Mapping[str, Any]
_UNDECIDED = ("unknown", "not-exercised")
_EXPLAINED = ("violated", "known")


def in_the_way(items: Sequence[Data], contracts: Iterable[Data]) -> set[str]:
    """Return the contracts that the run is not about and whose breach keeps it from judging a must.

    ``contracts`` have verdicts. Only contracts that an item saw broken, or that may be broken by
    what it saw, are given.
    """
    judged = [*contracts]
    undecided = _undecided(judged)
    hiding = {
        behind
        for item in items
        for name, all_behind in item.get("hidden_by", {}).items()
        if name in undecided
        for behind in all_behind
    }
    hiding &= {name for item in items for name in _seen(item)}
    return {one["id"] for one in judged if one["id"] in hiding and not one["selected"]}


def not_answered(items: Sequence[Data], contracts: Iterable[Data]) -> dict[str, dict[str, Any]]:
    """Return entries ``unsettled`` for musts whose own calls are answered wrongly, by contract.

    There are none if a broken or unsettled must explains that.
    """
    judged = [*contracts]
    musts = [one for one in judged if one["level"] == "must"]
    if any(one["verdict"] in _EXPLAINED or "unsettled" in one for one in musts):
        return {}
    undecided = _undecided(judged)
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        raising = {name for name, behind in item.get("hidden_by", {}).items() if not behind}
        names = [name for name in item.get("unknown", {}) if name in raising & undecided]
        for name in names:
            seen = {"times": 1, "why": item["unknown"][name]}
            found.setdefault(name, entry_of(item, name, names, seen))
    return found


def _undecided(contracts: Iterable[Data]) -> set[str]:
    return {
        one["id"]
        for one in contracts
        if one["level"] == "must" and one["selected"] and one["verdict"] in _UNDECIDED
    }


def _seen(item: Data) -> Iterator[str]:
    """Yield the contracts that an item saw broken, or that may be broken."""
    yield from (found["contract"] for found in item.get("handed", ()))
    yield from item.get("unsettled", {})
    for left in (item.get("extra") or {}).get("differences", {}).get("elsewhere", ()):
        yield from left["contracts"]
