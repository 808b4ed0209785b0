"""Choose the contracts and items that node ids of contracts on the command line ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from saverproof.contracts.registry import UnknownContract, contract, contracts
from saverproof.errors import SaverproofError
from saverproof.run.plugin.suite_only import NODE, AskedByNodeIds
from saverproof.savers.facts import Facts
from saverproof.suite.planning import item_id, planned


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The contracts that the run is about, and the names of the items that judge them."""

    contracts: tuple[str, ...]
    items: tuple[str, ...]


def narrowed(asked: AskedByNodeIds, savers: Iterable[Facts], apis: str) -> Narrowed:
    """Return the contracts and items that node ids ask for.

    Raises:
        SaverproofError: an id names no contract, or none of these savers through this API.
    """
    names = dict(_items(savers, apis))
    found: dict[str, None] = dict.fromkeys(asked.items)
    for name, through in asked.contracts:
        found |= dict.fromkeys(_items_of(name, through, names))
    whole = {one.id: None for item in asked.items for one in contracts(item.partition("[")[0])}
    return Narrowed((*whole, *dict.fromkeys(name for name, _ in asked.contracts)), tuple(found))


def _items(savers: Iterable[Facts], apis: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each item, and the name of its saver."""
    for facts in savers:
        for family, api in planned(facts, apis):
            yield item_id(facts, family, api), facts["name"]


def _items_of(name: str, through: str, names: dict[str, str]) -> list[str]:
    node = f"{NODE}::{name}[{through}]"
    try:
        family = contract(name).family
    except UnknownContract as error:
        raise SaverproofError(f"{node}: {error}") from None
    own = f"{family}[{through}]"
    found = [
        item
        for item, saver in names.items()
        if item == own or (saver == through and item.startswith(f"{family}["))
    ]
    if not found:
        there = [item.partition("[")[2][:-1] for item in names if item.startswith(f"{family}[")]
        expected = f"one of {', '.join(there)}" if there else "a family that applies to the saver"
        raise SaverproofError(f"{node}: found {through!r}, expected {expected}")
    return found
