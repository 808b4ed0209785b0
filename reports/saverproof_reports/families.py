"""Contracts of several savers, arranged by family for a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ABOUT = {
    "interface": "the methods that a saver must have",
    "ordering": "which checkpoint is the latest, and in which order they are listed",
    "upsert": "the same thing stored twice",
    "pending-writes": "what a node wrote before the next checkpoint took it up",
    "identity": "how checkpoints are named, found and linked to their parents",
    "serialization": "values come back as they went in",
    "channels": "the state of each checkpoint, and of its forks",
    "isolation": "threads, namespaces and stores stay apart",
    "filter": "listing by metadata",
    "deletion": "deleting, pruning and copying threads",
    "delta-history": "channels stored as changes are rebuilt rightly",
    "parity": "the sync and the async API answer alike",
    "lifecycle": "opening, setting up, closing and opening again",
    "atomicity": "a write that fails leaves nothing behind",
    "durability": "what was acknowledged survives a killed process",
    "concurrency": "many threads and processes on one store",
    "graph": "whole graphs run as they do in memory",
}
"""What each family is about, for someone who has never heard of it."""


def families(savers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every family of any saver, in the order in which they first come."""
    return list(
        dict.fromkeys(contract["family"] for judged in savers for contract in judged["contracts"])
    )


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
