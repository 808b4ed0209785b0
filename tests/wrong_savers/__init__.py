"""Deliberately wrong savers: what the kit must catch, each blamed on the contract it breaks."""

from __future__ import annotations

from tests.wrong_savers import (
    channels,
    deletion,
    delta_history,
    files,
    filter,
    identity,
    interface,
    isolation,
    lifecycle,
    ordering,
    parity,
    pending_writes,
    serialization,
    upsert,
    values,
)
from tests.wrong_savers.registry import REGISTERED, WrongSaver, opener, wrong

__all__ = [
    "WRONG",
    "WrongSaver",
    "channels",
    "deletion",
    "delta_history",
    "files",
    "filter",
    "identity",
    "interface",
    "isolation",
    "lifecycle",
    "opener",
    "ordering",
    "parity",
    "pending_writes",
    "serialization",
    "upsert",
    "values",
    "wrong",
]

WRONG: tuple[WrongSaver, ...] = tuple(REGISTERED)
