"""Contracts on keeping threads, namespaces and stores apart."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

THREADS = Contract(
    id="isolation/threads",
    statement=(
        "An operation on one thread is invisible in every other thread, and the id of a checkpoint "
        "of one is unknown in the others."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver` (thread_id is the primary key); "
        "`langgraph.checkpoint.conformance.spec.test_put.test_put_multiple_threads_isolated`"
    ),
    wrong="values are keyed by channel and version without the thread",
    matters=(
        "One user sees what another one said, or one user's agent goes on with another one's state."
    ),
    fix=(
        "Put the thread id into every key and into every WHERE, those of values and writes "
        "included."
    ),
    implies=frozenset(
        {"deletion/thread-all", "isolation/hostile-identifiers", "pending-writes/scoped"}
    ),
)

NAMESPACES = Contract(
    id="isolation/namespaces",
    statement=(
        "An operation on one namespace of a thread is invisible in every other namespace, "
        "operations on the whole thread excepted, and the id of a checkpoint of one is unknown in "
        "the others."
    ),
    source=(
        "`langgraph.pregel._algo.prepare_single_task` gives every subgraph a namespace; "
        "`langgraph.checkpoint.conformance.spec.test_get_tuple."
        "test_get_tuple_respects_namespace`; `langgraph.checkpoint.base.BaseCheckpointSaver."
        "get_tuple` (None if not found)"
    ),
    wrong="a put ends the pending writes of the whole thread",
    matters=(
        "A subgraph overwrites or ends the work of its parent, or of another subgraph; agents made "
        "of several agents mix up their states."
    ),
    fix="Put checkpoint_ns into every key and every WHERE, reads by id included.",
    implies=frozenset({"isolation/nested-namespaces", "pending-writes/scoped"}),
)

SAME_ID_IN_NAMESPACES = Contract(
    id="isolation/same-id-in-namespaces",
    level=Level.SHOULD,
    statement=("An id that two namespaces of a thread have names a checkpoint in each."),
    source=(
        "advice: `langgraph.checkpoint.memory.InMemorySaver` keys by thread, namespace and id, but "
        "LangGraph makes each id anew (`langgraph.checkpoint.base.id.uuid6`), so that no two "
        "namespaces of a thread share one"
    ),
    wrong="the primary key is thread and id",
    matters="Data brought over from elsewhere, with ids of its own, overwrites itself.",
    fix="Make thread, namespace and checkpoint id the key, all three.",
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
    matters="Subgraphs in subgraphs, or two calls of one subgraph, share their memory.",
    fix="Compare namespaces as whole texts; no prefixes, no splitting at ':' or '|'.",
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
    matters=(
        "A user who may choose a thread id, or whose id comes from a name, reads or deletes "
        "another user's conversation."
    ),
    fix=(
        "Compare ids exactly: parameters instead of pasted SQL, a binary collation, no LIKE, KEYS "
        "or paths made of raw ids, and separators escaped in joined keys; refuse what you cannot "
        "store."
    ),
)

HOSTILE_FILTER_KEYS = Contract(
    id="isolation/hostile-filter-keys",
    statement=(
        "A filter key that holds quotes, brackets or SQL is honoured as a key or refused, and "
        "never widens the result or changes data."
    ),
    source="CVE-2025-67644 (GHSA-9rwj-6rc7-p77c)",
    wrong="the key is pasted into the SQL text of json_extract",
    matters=(
        "Someone who may choose what is searched for reads other users' checkpoints, or changes "
        "the database (CVE-2025-67644)."
    ),
    fix=(
        "Bind keys as parameters; where the path is text, as in json_extract, allow a small "
        "alphabet or quote strictly."
    ),
)

WORKSPACES = Contract(
    id="isolation/workspaces",
    statement=(
        "Stores opened for two workspaces (databases, schemas, key prefixes) never show each "
        "other's data."
    ),
    source="saverproof: two deployments that share one server must not share threads",
    wrong="a key prefix is used for writing but not for listing or deleting",
    matters=(
        "Staging and production, or two customers on one server, see each other's conversations."
    ),
    fix=(
        "Use the prefix, schema or database for every operation: reading, listing and deleting as "
        "well as writing."
    ),
)

PRIVATE_FILES = Contract(
    id="isolation/private-files",
    level=Level.SHOULD,
    statement="Files that the saver creates are readable by their owner alone.",
    source="advice: checkpoints hold whole conversations, and the usual umask lets all read",
    wrong="sqlite3.connect creates the database with mode 0644",
    matters="Every account of the machine can read the users' conversations.",
    fix=(
        "Create files with mode 0600: `os.open(path, os.O_CREAT | os.O_RDWR, 0o600)` before the "
        "database opens them."
    ),
    durable=True,
)

TABLE = FamilyTable(
    name="isolation",
    title="threads, namespaces and stores stay apart",
    contracts=contracts_in(globals()),
)
