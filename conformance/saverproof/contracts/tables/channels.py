"""Contracts on channel values and versions along a thread's history."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
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
    matters=(
        "Everything that a step did not change is gone from the next state: the agent forgets the "
        "conversation."
    ),
    fix=(
        "Store only new versions if you like, but read each channel by the version that the "
        "checkpoint names in channel_versions."
    ),
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
    matters=(
        "Time travel shows today's values in yesterday's states; a fork starts from a state that "
        "never was."
    ),
    fix=(
        "Key values by channel and version, within thread and namespace, and never update such a "
        "row with another value."
    ),
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
    matters=(
        "A state that is copied in order to run it again (`update_state` with `__copy__`) comes "
        "back without its values."
    ),
    fix=(
        "Store what the checkpoint gives if it is not there yet, whatever new_versions says; take "
        "nothing from the parent."
    ),
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
    matters=(
        "A message that was consumed, or a finished trigger, comes back, and a node runs again "
        "that should not."
    ),
    fix=(
        "Return exactly the channels that the checkpoint's channel_versions name and that have a "
        "value in that version; fill up nothing from the parent."
    ),
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
    matters=(
        "After ten steps a node does not run any more, or runs for ever, since '10' sorts before "
        "'9'."
    ),
    fix=(
        "Return integers, or text padded with zeros, as the official savers do; do not override "
        "get_next_version without need."
    ),
)

VERSIONS_OF_CALLERS = Contract(
    id="channels/versions-of-callers",
    level=Level.SHOULD,
    statement=(
        "Channel versions that the caller makes, whatever the saver's own are like, come back as "
        "they were put, and each with its value."
    ),
    source=(
        "advice; `langgraph.checkpoint.base.ChannelVersions` are texts, integers or floats; "
        "LangGraph's Agent Server makes the versions itself, as text, whatever `get_next_version` "
        "of its saver gives (`langgraph_api._checkpointer._adapter`)"
    ),
    wrong="a column for whole numbers holds the versions",
    matters=(
        "Under LangGraph's Agent Server no checkpoint can be stored, or values come back as None."
    ),
    fix=(
        "Store versions as they are, in a column or a field that holds any text, and compute "
        "nothing from them outside get_next_version."
    ),
)

TABLE = FamilyTable(
    name="channels",
    title="the state of each checkpoint, and of its forks",
    contracts=contracts_in(globals()),
)
