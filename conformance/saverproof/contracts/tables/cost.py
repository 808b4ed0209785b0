"""Contracts on what operations cost as a store grows, in counts that no clock is needed for."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_GUIDE = "https://docs.langchain.com/oss/python/langgraph/checkpointers"

GET_BY_ID = Contract(
    id="cost/get-by-id",
    statement=(
        "What `get_tuple` costs for one checkpoint by its id grows no faster than an index does "
        "with the checkpoints of the thread, with other threads, or with namespaces."
    ),
    source=(
        f"LangChain's guide 'Build a custom checkpointer' ({_GUIDE}), 'Row key / index design': "
        "direct look-up by thread, namespace and id must be O(1) or close to it; "
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_delta_channel_history` asks so for "
        "each ancestor"
    ),
    wrong="no index leads to the id, so that every row of the store is looked at",
    matters=(
        "Time travel, forks and delta channels look checkpoints up by their ids at each run: a "
        "conversation gets slower with each message, until it stands still."
    ),
    fix=(
        "Make (thread_id, checkpoint_ns, checkpoint_id) the primary key, or a part of the key "
        "under which a checkpoint is kept, and look at nothing else."
    ),
    needs=frozenset({Capability.HISTORY}),
)

GET_LATEST = Contract(
    id="cost/get-latest",
    statement=(
        "What `get_tuple` costs for the latest checkpoint grows no faster than an index does with "
        "the checkpoints of the thread, with other threads, or with namespaces."
    ),
    # The guide demands a direct look-up for ids, and recommends an ordered key for the latest:
    # "the same principle applies". It is a must where data is stored, because LangGraph cannot
    # begin a run without it and every official saver of a database keeps it. InMemorySaver compares
    # all ids of the thread, which is told, and no breach: its threads end with the process.
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` asks for it at the start of every run; "
        f"the guide's recommended key ({_GUIDE}): ORDER BY checkpoint_id DESC LIMIT 1; every "
        "official saver of a database keeps it"
    ),
    wrong="all checkpoints of the thread are read, or sorted, to take the newest",
    matters=(
        "Every message of a conversation begins with this look-up: one database read 445,801 "
        "documents for one of them (langchain-ai/langgraphjs#2551)."
    ),
    fix="Read backwards along an index on (thread_id, checkpoint_ns, checkpoint_id), one row.",
    durable=True,
)

PUT = Contract(
    id="cost/put",
    level=Level.SHOULD,
    statement=(
        "What `put` costs grows with what has changed: not with the checkpoints of the thread, "
        "other threads or namespaces, and a channel that has no new version is not written again."
    ),
    source=(
        "advice; `langgraph.checkpoint.base.BaseCheckpointSaver.put` is told in new_versions what "
        "has changed, by which InMemorySaver stores each value once, and the official PostgreSQL "
        "saver all but plain texts and numbers"
    ),
    wrong="the whole thread, or every channel, is written anew at each step",
    matters=(
        "Each step of an agent writes as much as all steps before it, and an uploaded document is "
        "stored again at every step: disks fill, and long conversations crawl."
    ),
    fix="Store the values of the channels in new_versions, each under its channel and version.",
)

PUT_WRITES = Contract(
    id="cost/put-writes",
    level=Level.SHOULD,
    statement=(
        "What `put_writes` costs grows with the batch: not with the checkpoints of the thread, "
        "other threads or namespaces, nor with the writes that the checkpoint has already."
    ),
    source=(
        "advice; `langgraph.pregel._loop.PregelLoop.put_writes` makes one call for each task of a "
        "step"
    ),
    wrong="the writes of a checkpoint are one document: read, added to, written back",
    matters="A step with a thousand parallel tasks takes a million writes.",
    fix="Insert the rows of the batch under their own keys, without reading what is there.",
)

PAGE = Contract(
    id="cost/page",
    level=Level.SHOULD,
    statement=(
        "What `list` with a limit costs grows with the limit: not with the checkpoints of the "
        "thread or with other threads; and it asks the database in pages, not once or more for "
        "each checkpoint (the N+1 query)."
    ),
    source=(
        "advice; issues langchain-ai/langgraph#7263 and langchain-ai/langgraph#7204; "
        "`langgraph.pregel.Pregel.get_state_history` passes the limit on"
    ),
    wrong="the writes of each checkpoint are a query of their own, or the limit is applied last",
    matters=(
        "The history of a conversation takes as many round trips as it has steps: seconds to show "
        "one page."
    ),
    fix=(
        "Read the page's checkpoints in one query with its LIMIT, and their writes and values in "
        "one more for all of them."
    ),
    needs=frozenset({Capability.HISTORY}),
)

FILTER = Contract(
    id="cost/filter",
    level=Level.SHOULD,
    statement=(
        "What `list` with a filter costs grows with the checkpoints of the thread at most: not "
        "with other threads, nor with the values of the checkpoints that the filter leaves out."
    ),
    source=(
        "advice; issue langchain-ai/deepagents#4005; the metadata that a filter looks at is no "
        "part of the values (`langgraph.checkpoint.base.CheckpointMetadata`)"
    ),
    wrong="whole rows are read, values included, to look at their metadata",
    matters="To find one checkpoint, gigabytes of values are read: a list took a minute.",
    fix=(
        "Keep values in a table of their own, or behind the metadata in the row; and let the "
        "database filter."
    ),
    needs=frozenset({Capability.HISTORY}),
)

DELTA_HISTORY = Contract(
    id="cost/delta-history",
    level=Level.SHOULD,
    statement=(
        "What `get_delta_channel_history` costs grows with the checkpoints since the channel's "
        "nearest stored value: not with those before it, nor with those after the checkpoint that "
        "is asked for."
    ),
    source=(
        "advice; `langgraph.checkpoint.base.BaseCheckpointSaver.get_delta_channel_history` stops "
        "at the nearest stored value; issues langchain-ai/langgraph#8448 and "
        "langchain-ai/langgraph#8535"
    ),
    wrong="the whole thread is read, from its newest checkpoint or from its first one",
    matters=(
        "Each run begins with it: showing 20 states of a thread of 19,000 checkpoints took 38 "
        "seconds."
    ),
    fix="Walk from parent to parent, and read no writes of checkpoints that the walk did not pass.",
    since="4.1",
    needs=frozenset({Capability.DELTA_HISTORY, Capability.HISTORY}),
)

DELETE = Contract(
    id="cost/delete",
    level=Level.SHOULD,
    statement=(
        "What `delete_thread` and `delete_for_runs` cost grows with what they remove, not with "
        "other threads."
    ),
    source=(
        "advice; the Agent Server rolls runs back by `delete_for_runs`, and deletes threads that "
        "users give up"
    ),
    wrong="the run is looked for in the metadata of every checkpoint of the store",
    matters="Deleting one conversation takes as long as reading all of them, and locks the store.",
    fix="Begin each key with the thread, and index the run.",
    needs=frozenset({Capability.DELETE_THREAD}),
)

PRUNE = Contract(
    id="cost/prune",
    level=Level.SHOULD,
    statement="What `prune` costs grows with the threads that it is given, not with other threads.",
    source="advice; the Agent Server prunes threads one by one when their time is over",
    wrong="values that nobody needs any more are looked for in the whole store",
    matters="A nightly clean-up of a store that has grown does not end until the morning.",
    fix="Look for what can go by the thread's own keys.",
    needs=frozenset({Capability.PRUNE}),
)

COPY = Contract(
    id="cost/copy",
    level=Level.SHOULD,
    statement="What `copy_thread` costs grows with the thread that is copied, not with others.",
    source="advice; the Agent Server copies a thread where a user branches off",
    wrong="ids of the whole store are read to find free ones",
    matters="Branching off a short conversation takes longer with each user of the server.",
    fix="Copy by statements that select by the source thread.",
    needs=frozenset({Capability.COPY_THREAD}),
)

BYTES_PER_STEP = Contract(
    id="cost/bytes-per-step",
    level=Level.SHOULD,
    statement=(
        "What a store keeps grows with what is new in each step: a channel that does not change is "
        "kept once, a chat takes less than twice its new bytes, and a delta channel as much for "
        "each step."
    ),
    source=(
        "advice; `langgraph.checkpoint.base.BaseCheckpointSaver.put` is told what is new; "
        "issue langchain-ai/langgraphjs#1138"
    ),
    wrong="an agent's list of tools is kept again with each of its steps",
    matters="Databases of agents grow to gigabytes of copies, and so do their bills and back-ups.",
    fix="Store the values of the channels in new_versions, each under its channel and version.",
    durable=True,
)

SPACE_GIVEN_BACK = Contract(
    id="cost/space-given-back",
    level=Level.SHOULD,
    statement=(
        "After `delete_thread`, `delete_for_runs` and `prune` the store takes new data in place of "
        "what was removed: however often that happens, it does not grow, nor do its files while a "
        "saver stays open."
    ),
    source=("advice; issues langchain-ai/langgraph#8054 and redis-developer/langgraph-redis#162"),
    wrong="the rows go and their values stay, under keys that nothing leads to any more",
    matters=(
        "Deleting conversations frees nothing, and what users asked to have deleted is still there."
    ),
    fix=(
        "Delete the values with the checkpoints that were the last to need them; let the engine "
        "use the space again (SQLite does, PostgreSQL after VACUUM), and fold its log into the "
        "store (SQLite: `wal_autocheckpoint`, and no read that stays open)."
    ),
    needs=frozenset({Capability.DELETE_THREAD}),
)

CALLERS_AT_ONCE = Contract(
    id="cost/callers-at-once",
    level=Level.SHOULD,
    statement=(
        "Where a saver keeps a pool of connections, calls of several callers reach the database at "
        "once: none waits for another while the pool has a connection for it."
    ),
    # No promise of the base class is broken, and no state is lost: it is advice.
    source=(
        "advice; issue langchain-ai/langgraph#7259; servers give one saver to all their requests, "
        "and `langgraph.pregel._executor.BackgroundExecutor` calls it from several threads"
    ),
    wrong="one lock is held during each call, over a pool of fifty connections",
    matters=(
        "All users of a server wait in one line, however large its pool is: with a hundred of them "
        "each answer takes a hundred round trips."
    ),
    fix=(
        "Take a connection from the pool for each operation, and lock only where there is but one "
        "connection."
    ),
    durable=True,
)

TABLE = FamilyTable(
    name="cost",
    title="what operations cost as the store grows",
    phase="cost",
    contracts=contracts_in(globals()),
)
