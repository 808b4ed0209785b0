"""Deliberately wrong savers: what the kit must catch, each blamed on the contract it breaks.

Those of the functional families are the known mistakes of the kit, :mod:`saverproof.mistakes`.
"""

from __future__ import annotations

import saverproof.mistakes  # noqa: F401 - registers the functional ones
from tests.wrong_savers import (
    behind,
    blobs,
    concurrency,
    cost,
    counted_uses,
    crashes,
    expiring,
    failed_reads,
    failed_syncs,
    failures,
    files,
    graphs,
    instances,
    interrupted,
    loops,
    lost_locks,
    neighbours,
    open_transaction,
    outside_the_lock,
    plain_files,
    pointers,
    readers,
    recovering,
    reopening,
    resources,
    resuming,
    thread_registers,
    transactions,
    unfinished_reads,
    upgrades,
    upkeep,
    upkeep_of_graphs,
)
from tests.wrong_savers.registry import REGISTERED, WrongSaver, opener, wrong

__all__ = [
    "WRONG",
    "WrongSaver",
    "behind",
    "blobs",
    "concurrency",
    "cost",
    "counted_uses",
    "crashes",
    "expiring",
    "failed_reads",
    "failed_syncs",
    "failures",
    "files",
    "graphs",
    "instances",
    "interrupted",
    "loops",
    "lost_locks",
    "neighbours",
    "open_transaction",
    "opener",
    "outside_the_lock",
    "plain_files",
    "pointers",
    "readers",
    "recovering",
    "reopening",
    "resources",
    "resuming",
    "thread_registers",
    "transactions",
    "unfinished_reads",
    "upgrades",
    "upkeep",
    "upkeep_of_graphs",
    "wrong",
]

WRONG: tuple[WrongSaver, ...] = tuple(REGISTERED)
