"""Contract sets: which contracts a release had, and at which level, so that a project can pin one.

A new release of the kit may have new contracts, or ask more. Where a set is pinned, what came after
it advises, and fails nothing. ``python -m saverproof.contracts.sets 2026.12.0`` writes the set of a
release; `make release` does so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.registry import TABLES
from saverproof.errors import SaverproofError

_FILE = Path(__file__).with_name("sets.json")


@dataclass(frozen=True, slots=True)
class ContractSet:
    """The contracts of a release, each with its level, by id."""

    version: str
    levels: Mapping[str, str]

    def has(self, contract: Contract) -> bool:
        """Whether the release had the contract; those of other distributions are not its own."""
        return contract.id in self.levels or contract.family not in _FAMILIES

    def level_at(self, contract: Contract, installed: str) -> Level | None:
        """The level of a contract on a release of langgraph-checkpoint; never above the pinned."""
        level = contract.level_at(installed)
        if level is None:
            return None
        pinned = self.levels.get(contract.id, Level.SHOULD)
        return level if contract.family not in _FAMILIES or pinned == Level.MUST else Level.SHOULD

    def newer(self) -> tuple[str, ...]:
        """The musts of today that only advise where this set is pinned."""
        return tuple(
            one.id
            for table in TABLES
            for one in table.contracts
            if one.level is Level.MUST and self.levels.get(one.id) != Level.MUST
        )


_FAMILIES = frozenset(table.name for table in TABLES)


@cache
def _sets() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(_FILE.read_text("utf-8"))
    return found


def contract_set(version: str) -> ContractSet:
    """The set of a release, named by year and month.

    Raises:
        SaverproofError: there is none; those that exist are named.
    """
    found = _sets().get(version)
    if found is None:
        there = ", ".join(_sets())
        raise SaverproofError(f"found no contract set {version!r}, expected one of {there}")
    return ContractSet(version, found)


def write(version: str) -> None:
    """Write the set of a release ("2026.12.0"); those of other months stay as they are."""
    month = ".".join(version.split(".")[:2])
    levels = {one.id: str(one.level) for table in TABLES for one in table.contracts}
    text = json.dumps({**_sets(), month: levels}, indent=1)
    _FILE.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
