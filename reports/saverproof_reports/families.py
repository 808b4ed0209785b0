"""Contracts of several savers, arranged by family for a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


def families(savers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every family of any saver, in the order in which they first come."""
    return list(
        dict.fromkeys(contract["family"] for judged in savers for contract in judged["contracts"])
    )


def titles(savers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What each family is about; those of reports without titles are left out."""
    return {name: title for judged in savers for name, title in judged.get("titles", {}).items()}


def tally(judged: Mapping[str, Any], family: str) -> Counter[str]:
    """Contracts of ``family`` of one saver, by verdict; violated ``should`` ones as ``advice``."""
    return Counter(
        "advice"
        if contract["level"] == "should" and contract["verdict"] == "violated"
        else contract["verdict"]
        for contract in judged["contracts"]
        if contract["family"] == family
    )


def with_verdict(judged: Mapping[str, Any], *verdicts: str) -> list[Mapping[str, Any]]:
    """The contracts of one saver that have one of ``verdicts``, ``must`` ones first."""
    found = [one for one in judged["contracts"] if one["verdict"] in verdicts]
    return sorted(found, key=lambda one: one["level"] != "must")


@dataclass(frozen=True, slots=True)
class ContractRow:
    """One contract in a table of savers; a saver whose report has it not has None."""

    name: str
    level: str
    statement: str
    cells: tuple[tuple[Mapping[str, Any], Mapping[str, Any] | None], ...]


def contract_rows(savers: Sequence[Mapping[str, Any]], family: str) -> list[ContractRow]:
    """The contracts of ``family``, each with the saver and its verdict in every column."""
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
