"""Contracts on channel values and versions along a thread's history."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

_HISTORY = frozenset({Capability.HISTORY})

UNCHANGED_CARRIED = Contract(
    id="channels/unchanged-carried",
    statement=("A channel that is not in `new_versions` keeps its value in the new checkpoint."),
    source=(
        "`langgraph.pregel._utils.get_new_channel_versions`; "
        "`langgraph.checkpoint.conformance.spec.test_put.test_put_incremental_channel_update`"
    ),
    wrong="only the channels of new_versions are stored, and nothing joins the older ones",
    implies=frozenset({"channels/copy-fork"}),
)

HISTORY_IMMUTABLE = Contract(
    id="channels/history-immutable",
    statement=(
        "A later put, that of a fork included, never changes the values of an earlier checkpoint."
    ),
    source=(
        "`langgraph.checkpoint.conformance.spec.test_put.test_put_incremental_channel_update`; "
        "time travel reads `langgraph.pregel.Pregel.get_state_history`"
    ),
    wrong="one row per channel holds its newest value for the whole thread",
    needs=_HISTORY,
)

COPY_FORK = Contract(
    id="channels/copy-fork",
    statement=(
        "A put with empty `new_versions`, full values and versions, and the grandparent as "
        "parent reads back whole."
    ),
    source='`langgraph.pregel.Pregel.bulk_update_state`, branch `as_node == "__copy__"`',
    wrong="values that are not new are taken from the parent, which is the wrong one here",
    needs=_HISTORY,
)

DROPPED_STAYS_DROPPED = Contract(
    id="channels/dropped-stays-dropped",
    statement=(
        "A channel without a version, or with a new version and no value, is absent; with an "
        "unchanged version and no value given, the earlier value of that version or absence "
        "are both right."
    ),
    source=(
        "`langgraph.pregel._checkpoint.create_checkpoint` leaves out empty channels; "
        "`langgraph.checkpoint.conformance.spec.test_put.test_put_channel_removed`"
    ),
    wrong="missing values are filled up from the parent, so that a consumed channel comes back",
)

VERSIONS_INCREASE = Contract(
    id="channels/versions-increase",
    statement=(
        "`get_next_version` is strictly increasing, from None too, its first version is "
        "greater than the empty value of its type, and all versions of a thread compare with "
        "one another."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_next_version`; "
        "`langgraph.pregel._utils.get_new_channel_versions` compares with the empty value"
    ),
    wrong="versions are unpadded text, so that '10' is less than '9'",
)

TABLE = FamilyTable(
    name="channels",
    title="the state of each checkpoint, and of its forks",
    contracts=contracts_in(globals()),
)
