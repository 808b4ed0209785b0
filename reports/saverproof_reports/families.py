"""Arrange the contracts of several savers by family for a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


def families(savers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return every family of any saver, in order of appearance."""
    return list(
        dict.fromkeys(contract["family"] for judged in savers for contract in judged["contracts"])
    )


def titles(savers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what each family is about. Reports without titles add none."""
    return {name: title for judged in savers for name, title in judged.get("titles", {}).items()}


def tally(judged: Mapping[str, Any], family: str) -> Counter[str]:
    """Count a saver's contracts of ``family`` by verdict.

    A violated ``should`` counts as ``advice``.
    """
    return Counter(
        counted_as(contract) for contract in judged["contracts"] if contract["family"] == family
    )


def counted_as(contract: Mapping[str, Any]) -> str:
    """Return the verdict under which a table counts a contract."""
    verdict: str = contract["verdict"]
    return "advice" if contract["level"] == "should" and verdict == "violated" else verdict


def with_verdict(judged: Mapping[str, Any], *verdicts: str) -> list[Mapping[str, Any]]:
    """Return a saver's contracts that have one of ``verdicts``, musts first."""
    found = [one for one in judged["contracts"] if one["verdict"] in verdicts]
    return sorted(found, key=lambda one: one["level"] != "must")


@dataclass(frozen=True, slots=True)
class ContractRow:
    """One contract in a table of savers. A saver whose report lacks it has None."""

    name: str
    level: str
    statement: str
    cells: tuple[tuple[Mapping[str, Any], Mapping[str, Any] | None], ...]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts of the savers, as ``tally`` counts them."""
        return list(dict.fromkeys(counted_as(one) for _, one in self.cells if one is not None))

    @property
    def apis(self) -> list[str]:
        """The APIs through which any of the savers was judged."""
        judged = (one["checked"] for _, one in self.cells if one is not None)
        return list(dict.fromkeys(api for checked in judged for api in checked if checked[api]))


def contract_rows(savers: Sequence[Mapping[str, Any]], family: str) -> list[ContractRow]:
    """Return the contracts of ``family``, each with every saver and its verdict."""
    columns = [
        (judged, {one["id"]: one for one in judged["contracts"] if one["family"] == family})
        for judged in savers
    ]
    found = {identity: one for _, column in columns for identity, one in column.items()}
    return [
        ContractRow(
            identity.partition("/")[2],
            one["level"],
            one["statement"],
            tuple((judged, column.get(identity)) for judged, column in columns),
        )
        for identity, one in found.items()
    ]
