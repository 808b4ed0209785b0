"""Contracts of several savers, arranged by family for a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def families(savers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every family of any saver, in the order in which they first come."""
    return list(
        dict.fromkeys(contract["family"] for judged in savers for contract in judged["contracts"])
    )


def tally(judged: Mapping[str, Any], family: str) -> Counter[str]:
    """Contracts of `family` of one saver, by verdict; violated ``should`` ones as ``advice``."""
    return Counter(
        "advice"
        if contract["level"] == "should" and contract["verdict"] == "violated"
        else contract["verdict"]
        for contract in judged["contracts"]
        if contract["family"] == family
    )


def with_verdict(judged: Mapping[str, Any], *verdicts: str) -> list[Mapping[str, Any]]:
    """The contracts of one saver that have one of `verdicts`, ``must`` ones first."""
    found = [one for one in judged["contracts"] if one["verdict"] in verdicts]
    return sorted(found, key=lambda one: one["level"] != "must")
