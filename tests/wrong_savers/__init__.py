"""Deliberately wrong savers: what the kit must catch, each blamed on the contract it breaks."""

from __future__ import annotations

from tests.wrong_savers import (
    channels,
    concurrency,
    crashes,
    deletion,
    delta_history,
    files,
    filter,
    graphs,
    identity,
    interface,
    isolation,
    lifecycle,
    ordering,
    parity,
    pending_writes,
    serialization,
    transactions,
    upsert,
    values,
)
from tests.wrong_savers.registry import REGISTERED, WrongSaver, opener, wrong

__all__ = [
    "WRONG",
    "WrongSaver",
    "channels",
    "concurrency",
    "crashes",
    "deletion",
    "delta_history",
    "files",
    "filter",
    "graphs",
    "identity",
    "interface",
    "isolation",
    "lifecycle",
    "opener",
    "ordering",
    "parity",
    "pending_writes",
    "serialization",
    "transactions",
    "upsert",
    "values",
    "wrong",
]

WRONG: tuple[WrongSaver, ...] = tuple(REGISTERED)
