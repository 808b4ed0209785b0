"""Contracts on rebuilding delta channels."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

MATCHES_WALK = Contract(
    id="delta-history/matches-walk",
    statement=(
        "`get_delta_channel_history` equals the base class's walk over the same saver's "
        "`get_tuple`: writes oldest first, the seed from the nearest ancestor that has a value "
        "(a stored None is not judged), that ancestor's own writes in and the target's out, each "
        "channel on its own, by parent and not by id; no channels have no history."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_delta_channel_history`: the "
        "return contract is fixed there; `langgraph.checkpoint.base.DeltaChannelHistory`"
    ),
    wrong="ancestors are the checkpoints of lower id, so that a fork's writes leak in",
    matters=(
        "A channel that is stored as changes is rebuilt wrongly: messages of another branch "
        "appear, or some are missing."
    ),
    fix=(
        "Follow parent_config step by step, as the base class does; if in doubt, leave the method "
        "to the base class."
    ),
    since="4.1",
    needs=frozenset({Capability.DELTA_HISTORY, Capability.HISTORY}),
)

TABLE = FamilyTable(
    name="delta-history",
    title="channels stored as changes are rebuilt correctly",
    contracts=contracts_in(globals()),
)
