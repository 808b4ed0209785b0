"""Contracts on keeping threads, namespaces and stores apart."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

THREADS = Contract(
    id="isolation/threads",
    statement="An operation on one thread is invisible in every other thread.",
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver` (thread_id is the primary key); "
        "`langgraph.checkpoint.conformance.spec.test_put.test_put_multiple_threads_isolated`"
    ),
    wrong="values are keyed by channel and version without the thread",
    implies=frozenset(
        {"deletion/thread-all", "isolation/hostile-identifiers", "pending-writes/scoped"}
    ),
)

NAMESPACES = Contract(
    id="isolation/namespaces",
    statement=(
        "An operation on one namespace of a thread is invisible in every other namespace, "
        "operations on the whole thread excepted."
    ),
    source=(
        "`langgraph.pregel._algo.prepare_single_task` gives every subgraph a namespace; "
        "`langgraph.checkpoint.conformance.spec.test_get_tuple."
        "test_get_tuple_respects_namespace`"
    ),
    wrong="a put ends the pending writes of the whole thread",
    implies=frozenset({"isolation/nested-namespaces", "pending-writes/scoped"}),
)

SAME_ID_IN_NAMESPACES = Contract(
    id="isolation/same-id-in-namespaces",
    level=Level.SHOULD,
    statement=(
        "An id that two namespaces of a thread have names a checkpoint in each, and the id of one "
        "namespace is unknown in the others."
    ),
    source=(
        "advice: `langgraph.checkpoint.memory.InMemorySaver` keys by thread, namespace and id, but "
        "LangGraph makes each id anew (`langgraph.checkpoint.base.id.uuid6`), so that no two "
        "namespaces of a thread share one"
    ),
    wrong="the primary key is thread and id",
)

NESTED_NAMESPACES = Contract(
    id="isolation/nested-namespaces",
    statement=(
        "The namespaces that LangGraph makes all work and stay apart: `node:task`, "
        "`node:task|inner:task`, `node:task|1` for a second call in one task, and a bare node "
        "name."
    ),
    source=(
        "`langgraph.pregel._algo.prepare_single_task`; `langgraph.pregel._loop.PregelLoop`; "
        "`langgraph.pregel.Pregel._own_checkpoint_config`"
    ),
    wrong="a namespace is matched by prefix, or split at ':' when a key is taken apart",
)

HOSTILE_IDENTIFIERS = Contract(
    id="isolation/hostile-identifiers",
    statement=(
        "Thread ids that differ only by case, padding, leading zeros or unicode form, or that "
        "hold separators, wildcards, quotes, path parts or NUL, are honoured as distinct or "
        "refused with an error, and never confused in reads, listings and deletes."
    ),
    source=(
        "saverproof: thread ids come from users, and one that is taken for another shows one "
        "user's data to another user"
    ),
    wrong="a case-insensitive collation, LIKE or KEYS patterns, or keys joined with ':'",
)

HOSTILE_FILTER_KEYS = Contract(
    id="isolation/hostile-filter-keys",
    statement=(
        "A filter key that holds quotes, brackets or SQL is honoured as a key or refused, and "
        "never widens the result or changes data."
    ),
    source="CVE-2025-67644 (GHSA-9rwj-6rc7-p77c)",
    wrong="the key is pasted into the SQL text of json_extract",
)

WORKSPACES = Contract(
    id="isolation/workspaces",
    statement=(
        "Stores opened for two workspaces (databases, schemas, key prefixes) never show each "
        "other's data."
    ),
    source="saverproof: two deployments that share one server must not share threads",
    wrong="a key prefix is used for writing but not for listing or deleting",
)

PRIVATE_FILES = Contract(
    id="isolation/private-files",
    level=Level.SHOULD,
    statement="Files that the saver creates are readable by their owner alone.",
    source="advice: checkpoints hold whole conversations, and the usual umask lets all read",
    wrong="sqlite3.connect creates the database with mode 0644",
    durable=True,
)

TABLE = FamilyTable(
    name="isolation",
    title="threads, namespaces and stores stay apart",
    contracts=contracts_in(globals()),
)
