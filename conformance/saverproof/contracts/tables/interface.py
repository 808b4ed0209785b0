"""Contracts on what a saver has to have."""

from __future__ import annotations

from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

COMPLETE = Contract(
    id="interface/complete",
    statement=(
        "The operations put, put_writes, get_tuple, list and delete_thread exist in the sync "
        "or the async API and do more than raise NotImplementedError."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver`: methods without a default",
    wrong="delete_thread is left to the base class, which only raises NotImplementedError",
    matters=(
        "An agent cannot be saved, resumed or deleted at all through a method that is missing; it "
        "fails with NotImplementedError in the middle of a run."
    ),
    fix=(
        "Implement all five operations in at least one of the two APIs; if a method is only "
        "inherited from the base class, write it."
    ),
)

TABLE = FamilyTable(
    name="interface",
    title="the methods that a saver must have",
    contracts=contracts_in(globals()),
)
