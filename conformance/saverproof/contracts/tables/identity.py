"""Contracts on how checkpoints are named, found and kept apart from the caller's objects."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

PUT_RETURNS_ADDRESS = Contract(
    id="identity/put-returns-address",
    statement=(
        "`put` returns a config with the thread id, the namespace and the checkpoint's id, and "
        "that config reads the checkpoint back."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.put`: 'Updated configuration'",
    wrong="put returns the config that it was given, which names the parent",
    matters=(
        "The next checkpoint gets the wrong parent, and a user who keeps the config to come back "
        "later comes back to another state."
    ),
    fix="Return a new config with thread id, namespace and the id of the checkpoint that was put.",
)

TUPLE_ADDRESSES_ITSELF = Contract(
    id="identity/tuple-addresses-itself",
    statement=(
        "The config of a tuple names that tuple's own thread, namespace and checkpoint id, "
        "from `get_tuple` and `list` alike; asked by id, `get_tuple` may echo the caller's "
        "config."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.get_tuple`",
    wrong="the latest is returned with the caller's config, which holds no checkpoint id",
    matters="Time travel and forks start from a different state than the one shown.",
    fix="Build the config of each tuple from its own row, not from the caller's config.",
)

PARENT = Contract(
    id="identity/parent",
    statement=(
        "`parent_config` names the id that put's config carried, in the same thread and "
        "namespace, and is None for a root."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop._put_checkpoint` passes the parent in the config; "
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_delta_channel_history` walks it"
    ),
    wrong="the parent is taken to be the next lower id, which is wrong after a fork",
    matters=(
        "After a fork the history jumps between branches, and delta channels are rebuilt from the "
        "wrong ancestors."
    ),
    fix=(
        'Store `config["configurable"].get("checkpoint_id")` of the put as the parent; never guess '
        "it from the order of ids."
    ),
    needs=frozenset({Capability.HISTORY}),
)

UNKNOWN_IS_NONE = Contract(
    id="identity/unknown-is-none",
    statement=(
        "An unknown thread, namespace or checkpoint id gives None from `get_tuple` and nothing "
        "from `list`."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.get_tuple`: 'None if not found'",
    wrong="an unknown id falls back to the latest checkpoint, or raises KeyError",
    matters=(
        "A new conversation fails on its first message, or starts with the state of another one."
    ),
    fix="Return None, or an empty iterator, if no row fits; fall back to nothing.",
    implies=frozenset(
        {
            "lifecycle/any-first-operation",
            "lifecycle/any-first-operation-before-setup",
            "delta-history/matches-walk",
        }
    ),
)

NONE_ID_IS_LATEST = Contract(
    id="identity/none-id-is-latest",
    statement=(
        "A checkpoint id that is None or '' means that none is given: the latest in "
        "`get_tuple`, no narrowing in `list`, no parent in `put`."
    ),
    source=(
        "`langgraph.pregel._algo.prepare_single_task` puts `checkpoint_id: None` into the configs "
        "of subgraphs; '' is taken for None by "
        "`langgraph.pregel._checkpoint.checkpoint_superseded` and "
        "`langgraph.checkpoint.memory.InMemorySaver.get_tuple`"
    ),
    wrong='`"checkpoint_id" in configurable` decides, so that None is looked up as an id',
    matters=(
        "LangGraph asks for subgraphs with `checkpoint_id: None`; their memory is not found, and "
        "they start anew at each call."
    ),
    fix='Test the value and not the key: `if checkpoint_id := configurable.get("checkpoint_id")`.',
)

EMPTY_ID = Contract(
    id="identity/empty-id",
    level=Level.SHOULD,
    statement="A checkpoint id of '' is accepted, and means that none is given.",
    source=(
        "advice: every official saver takes '' for None, but LangGraph itself only sends None; "
        "an id that means nothing is better refused than looked up"
    ),
    wrong="an empty id raises ValueError",
    matters=(
        "Configs that come from forms or query strings, where a missing id is an empty text, are "
        "refused."
    ),
    fix="Treat '' as None.",
)

GET_DEFAULTS_TO_ROOT = Contract(
    id="identity/get-defaults-to-root",
    statement="`get_tuple` with a config without a namespace reads the root namespace.",
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` asks with the caller's config; "
        "`langgraph.checkpoint.memory.InMemorySaver.get_tuple`"
    ),
    wrong="without a namespace the newest checkpoint of any namespace is returned",
    matters="The state of a subgraph is taken for the state of the agent when a thread is resumed.",
    fix="Read the namespace with the default '' and always compare it.",
)

LIST_SELECTS = Contract(
    id="identity/list-selects",
    statement=(
        "A config with a namespace or a checkpoint id narrows `list` to it, and None lists every "
        "thread."
    ),
    source=(
        "`langgraph.pregel.Pregel.get_state_history` and "
        "`langgraph._internal._replay.ReplayState.get_checkpoint` list one namespace; "
        "`langgraph.checkpoint.memory.InMemorySaver.list`"
    ),
    wrong="the root namespace '' is falsy and taken for no namespace, or an id is ignored",
    matters=(
        "The history of an agent has checkpoints of its subgraphs in it, or of other conversations."
    ),
    fix=(
        "Add a condition for each of thread, namespace and id that the config names, and test with "
        "`is not None`, for '' is the root namespace."
    ),
)

LIST_WITHOUT_NAMESPACE = Contract(
    id="identity/list-without-namespace",
    level=Level.SHOULD,
    statement="A config without a namespace lists the checkpoints of all the thread's namespaces.",
    source=(
        "advice: `langgraph.checkpoint.memory.InMemorySaver.list` does, but LangGraph names the "
        "namespace wherever it lists (`langgraph.pregel.Pregel.get_state_history`, "
        "`langgraph._internal._replay.ReplayState.get_checkpoint`)"
    ),
    wrong="without a namespace only the root's checkpoints are listed",
    matters="Tools that list all of a thread, for an export or a search, miss its subgraphs.",
    fix="Leave out the condition on the namespace if the config has no such key.",
)

LOOP_CONFIGS = Contract(
    id="identity/loop-configs",
    statement=(
        "Configs as LangGraph's loop sends them work in every method: with unserializable "
        "objects under `__pregel_` keys, a checkpoint map, tags and callbacks, and with "
        "filter, before and limit passed as None."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop.put_writes`; "
        "`langgraph.pregel.Pregel.get_state_history`"
    ),
    wrong="the whole config is serialized along with the checkpoint",
    matters=(
        "Saving fails, or is very slow, as soon as the saver runs inside a real graph, for "
        "LangGraph's configs hold objects that cannot be serialized."
    ),
    fix=(
        "Take the few keys that you need from the config and store nothing else of it; accept None "
        "for filter, before and limit."
    ),
)

INPUTS_UNTOUCHED = Contract(
    id="identity/inputs-untouched",
    statement="No call changes the config, checkpoint, metadata, writes or filter it was given.",
    source=(
        "`langgraph.pregel._loop.PregelLoop._put_checkpoint` goes on using the same metadata "
        "and config after the save was submitted"
    ),
    wrong='`checkpoint.pop("channel_values")` on the caller\'s dict',
    matters=(
        "The running agent loses a part of its state while it is saved, and fails or goes astray "
        "in a later step."
    ),
    fix="Work on copies: `{**checkpoint}`, `dict(metadata)`; never `pop` from an argument.",
)

SNAPSHOTS = Contract(
    id="identity/snapshots",
    statement=(
        "Changing an object after it was put, or one that was returned, changes nothing stored."
    ),
    source=(
        "`langgraph.pregel._checkpoint.copy_checkpoint` copies only one level, so that channel "
        "values are shared with the running graph"
    ),
    wrong="objects are kept in a dict or a cache without a copy",
    matters=(
        "What was saved changes afterwards, since the running graph goes on with the same objects: "
        "the history shows values that never were."
    ),
    fix="Serialize when the call comes in, and deserialize at each read; keep no live objects.",
)

TABLE = FamilyTable(
    name="identity",
    title="how checkpoints are named, found and linked to their parents",
    contracts=contracts_in(globals()),
)
