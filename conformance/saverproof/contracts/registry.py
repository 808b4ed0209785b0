"""All contracts, by id and by family."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables import (
    atomicity,
    channels,
    concurrency,
    cost,
    deletion,
    delta_history,
    durability,
    expiry,
    filtering,
    graph,
    identity,
    interface,
    isolation,
    lifecycle,
    ordering,
    parity,
    pending_writes,
    resources,
    serialization,
    upgrade,
    upsert,
)
from saverproof.errors import ExtensionError
from saverproof.extensions import CONTRACTS, added

TABLES = (
    interface.TABLE,
    ordering.TABLE,
    upsert.TABLE,
    pending_writes.TABLE,
    identity.TABLE,
    serialization.TABLE,
    channels.TABLE,
    isolation.TABLE,
    filtering.TABLE,
    deletion.TABLE,
    delta_history.TABLE,
    parity.TABLE,
    lifecycle.TABLE,
    expiry.TABLE,
    graph.TABLE,
    cost.TABLE,
    resources.TABLE,
    atomicity.TABLE,
    durability.TABLE,
    concurrency.TABLE,
    upgrade.TABLE,
)
"""The families of the kit, in the order in which they run and are shown."""


class UnknownContract(KeyError):  # noqa: N818 (named by what was asked for)
    """No contract has this id. The message offers the nearest ones."""

    def __init__(self, wanted: str, nearest: list[str]) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.nearest = nearest

    def __str__(self) -> str:
        hint = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        return f"no contract {self.wanted!r}{hint}"


@cache
def tables() -> tuple[FamilyTable, ...]:
    """Return every family: those of the kit, then those that other distributions add.

    Raises:
        ExtensionError: what another distribution adds cannot be used.
    """
    found = list(TABLES)
    for where, table in added(CONTRACTS, FamilyTable):
        if any(table.name == known.name for known in found):
            raise ExtensionError(f"{where}: there is a family {table.name!r} already")
        if not table.contracts:
            raise ExtensionError(f"{where}: found no contracts, expected one or more")
        for entry in table.contracts:
            if entry.family != table.name:
                raise ExtensionError(
                    f"{where}: found the contract {entry.id!r}, expected '{table.name}/…'"
                )
        found.append(table)
    return tuple(found)


def families() -> tuple[str, ...]:
    """Return the names of all families, in the order of :func:`tables`."""
    return tuple(table.name for table in tables())


@cache
def _contracts() -> Mapping[str, Contract]:
    found: dict[str, Contract] = {}
    for entry in (entry for table in tables() for entry in table.contracts):
        if entry.id in found:
            raise ValueError(f"contract {entry.id!r} is defined twice")
        found[entry.id] = entry
    # Without the base operations nothing else can be judged, and neither if what one program put
    # is seen by the next: everything may break with these.
    for name in (interface.COMPLETE.id, isolation.WORKSPACES.id):
        found[name] = replace(found[name], implies=frozenset(found) - {name})
    return MappingProxyType(found)


def contract(id: str) -> Contract:
    """Return the contract with this id.

    Raises:
        UnknownContract: there is none; the message offers the nearest ids.
    """
    found = _contracts().get(id)
    if found is None:
        raise UnknownContract(id, difflib.get_close_matches(id, _contracts(), n=3, cutoff=0.5))
    return found


def family_table(name: str) -> FamilyTable:
    """Return the table of the family with this name.

    Raises:
        ValueError: there is none; the message names the known ones.
    """
    for table in tables():
        if table.name == name:
            return table
    raise ValueError(f"no family {name!r}; known: {', '.join(families())}")


def contracts(family: str | None = None) -> tuple[Contract, ...]:
    """Return all contracts, or those of one family, in the order of the documentation.

    Raises:
        ValueError: there is no such family; the message names the known ones.
    """
    if family is None:
        return tuple(_contracts().values())
    return tuple(_contracts()[entry.id] for entry in family_table(family).contracts)
