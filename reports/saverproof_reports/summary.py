"""Count contracts by level and verdict."""

from collections.abc import Iterable, Mapping
from typing import Any

VERDICTS = ("held", "violated", "known", "unknown", "not-exercised", "not-applicable")
"""Every verdict, in the order in which reports show them."""

LEVELS = ("must", "should")


def summarise(contracts: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return ``{level: {verdict: count}}`` with every level and verdict, zero included."""
    summary = {level: dict.fromkeys(VERDICTS, 0) for level in LEVELS}
    for contract in contracts:
        summary[contract["level"]][contract["verdict"]] += 1
    return summary
