"""Contract sets: the contracts of a release with their levels, which a project can pin.

A new release of the kit may have new contracts, or ask more. In a project that pins a set, whatever
is newer is advice and fails nothing. ``python -m saverproof.contracts.sets 2026.12.0`` writes the
set of a release; `make release` does so.
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
    """The contracts of a release: id -> level."""

    version: str
    levels: Mapping[str, str]

    def has(self, contract: Contract) -> bool:
        """Return whether the release had the contract. Contracts of other distributions always
        count.
        """
        return contract.id in self.levels or contract.family not in _FAMILIES

    def level_at(self, contract: Contract, installed: str) -> Level | None:
        """Return the contract's level on a release of langgraph-checkpoint, at most the pinned
        level.
        """
        level = contract.level_at(installed)
        if level is None:
            return None
        pinned = self.levels.get(contract.id, Level.SHOULD)
        return level if contract.family not in _FAMILIES or pinned == Level.MUST else Level.SHOULD

    def newer(self) -> tuple[str, ...]:
        """Return today's musts that are mere advice in a project that pins this set."""
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
    """Return the set of a release, which is named by year and month.

    Raises:
        SaverproofError: there is none; the message names those that exist.
    """
    found = _sets().get(version)
    if found is None:
        there = ", ".join(_sets())
        raise SaverproofError(f"found no contract set {version!r}, expected one of {there}")
    return ContractSet(version, found)


def write(version: str) -> None:
    """Write the set of a release ("2026.12.0"). The sets of other months are kept."""
    month = ".".join(version.split(".")[:2])
    levels = {one.id: str(one.level) for table in TABLES for one in table.contracts}
    text = json.dumps({**_sets(), month: levels}, indent=1)
    _FILE.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
