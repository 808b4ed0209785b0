"""Contracts on rebuilding delta channels."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
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

ENDS = Contract(
    id="delta-history/ends",
    level=Level.SHOULD,
    statement=(
        "`get_delta_channel_history`, and whatever else follows parents, ends where an id was put "
        "again under its own descendant, so that the parents are a loop: the put is refused, the "
        "walk ends at the loop, or it raises."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_delta_channel_history`: each ancestor "
        "is visited once, which its own walk, and `InMemorySaver`'s, do not keep in a loop; `put` "
        "replaces the checkpoint of an id, its parent too, and asks nothing of that parent"
    ),
    wrong="`while parent is not None`, without a look at where the walk has been",
    matters=(
        "One checkpoint that a script, an import or a restored backup put under its own "
        "descendant, and each worker that opens the thread hangs, at full load and with ever more "
        "memory, until it is killed."
    ),
    fix=(
        "Keep the set of the ids that the walk has seen, and end it at one of them (or raise). In "
        "SQL, `UNION` in a recursive query does that, and `UNION ALL` does not."
    ),
    since="4.1",
    needs=frozenset({Capability.DELTA_HISTORY, Capability.HISTORY}),
)

TABLE = FamilyTable(
    name="delta-history",
    title="channels stored as changes are rebuilt correctly",
    contracts=contracts_in(globals()),
)
