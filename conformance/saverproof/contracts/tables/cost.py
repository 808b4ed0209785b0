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
        "has changed, by which InMemorySaver and the official PostgreSQL saver store values once"
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

TABLE = FamilyTable(
    name="cost",
    title="what operations cost as the store grows",
    phase="cost",
    contracts=contracts_in(globals()),
)
