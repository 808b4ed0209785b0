"""Deliberately wrong savers: what the kit must catch, each blamed on the contract it breaks."""

from __future__ import annotations

from tests.wrong_savers import (
    channels,
    deletion,
    filter,
    identity,
    interface,
    isolation,
    ordering,
    pending_writes,
    upsert,
)
from tests.wrong_savers.registry import REGISTERED, WrongSaver, opener, wrong

__all__ = [
    "WRONG",
    "WrongSaver",
    "channels",
    "deletion",
    "filter",
    "identity",
    "interface",
    "isolation",
    "opener",
    "ordering",
    "pending_writes",
    "upsert",
    "wrong",
]

WRONG: tuple[WrongSaver, ...] = tuple(REGISTERED)
