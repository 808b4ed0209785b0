"""Contracts on the writes of a task that wait for the next checkpoint."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

COMPLETE = Contract(
    id="pending-writes/complete",
    statement=(
        "Every write of a batch comes back on its checkpoint: regular writes in the order of "
        "the batch after the special ones, a channel written twice kept twice, None kept."
    ),
    source="`langgraph.pregel._loop.PregelLoop.put_writes`; `langgraph.pregel._task_status`",
    wrong="writes are keyed by channel, so that a second write to a channel replaces the first",
    implies=frozenset({"pending-writes/same-in-list"}),
)

SPECIAL_INDEX = Contract(
    id="pending-writes/special-index",
    statement=(
        "Error, scheduled, interrupt and resume writes take their fixed negative index and "
        "never displace a regular write."
    ),
    source="`langgraph.checkpoint.base.WRITES_IDX_MAP`",
    wrong="the index is always the position in the batch: an interrupt overwrites write 0",
    implies=frozenset(
        {
            "ordering/writes-sorted",
            "pending-writes/complete",
            "pending-writes/same-in-list",
            "upsert/regular-write-first-wins",
            "upsert/special-write-last-wins",
            "upsert/special-write-last-wins-mixed",
        }
    ),
)

SCOPED = Contract(
    id="pending-writes/scoped",
    statement=(
        "Writes show only on their own thread, namespace and checkpoint, never on a task of "
        "the same id elsewhere."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.put_writes` (outer key)",
    wrong="the namespace is missing from the key of the writes, or from the WHERE that reads",
    implies=frozenset({"isolation/namespaces", "isolation/threads"}),
)

EARLY_WRITES_KEPT = Contract(
    id="pending-writes/early-writes-kept",
    statement=(
        "Writes that reach the saver before their checkpoint does appear on it once it is put."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop.put_writes` and "
        "`langgraph.pregel._loop.PregelLoop._put_checkpoint` submit both to a pool, without "
        "order between them"
    ),
    wrong="a foreign key from writes to checkpoints rejects them, or put clears old writes",
    needs=frozenset({Capability.EARLY_WRITES}),
)

LATE_WRITES = Contract(
    id="pending-writes/late-writes",
    statement=(
        "Writes added to a checkpoint that has children already, or is no longer the latest, "
        "appear on it."
    ),
    source=(
        "`langgraph.pregel.Pregel.bulk_update_state` writes to the checkpoint it builds on; "
        "`langgraph.pregel._loop.PregelLoop._put_exit_delta_writes`"
    ),
    wrong="put_writes goes to the thread's latest checkpoint, whatever id the config names",
    needs=frozenset({Capability.HISTORY}),
)

ONE_TASK_TWO_PATHS = Contract(
    id="pending-writes/one-task-two-paths",
    statement=(
        "Writes of one task that were stored under two task paths are each sorted by their "
        "own path."
    ),
    source=(
        "`langgraph.checkpoint.base.writes_sort_key`; "
        "`langgraph.checkpoint.memory.InMemorySaver.put_writes` keeps the path of each write"
    ),
    wrong="the task path is stored once per task, so that the last batch moves all its writes",
    since="4.3",
)

EMPTY_BATCH = Contract(
    id="pending-writes/empty-batch",
    statement="An empty batch of writes changes nothing and raises nothing.",
    source=(
        "`langgraph.pregel._loop.PregelLoop.put_writes`: leaving out untracked channels can "
        "empty a batch"
    ),
    wrong="`writes[0]` is looked at, or an INSERT without rows is sent to the database",
)

SAME_IN_LIST = Contract(
    id="pending-writes/same-in-list",
    statement="`list` shows the same pending writes on a checkpoint as `get_tuple` does.",
    source=(
        "`langgraph.pregel.Pregel.get_state_history`; "
        "`langgraph.checkpoint.conformance.spec.test_list.test_list_includes_pending_writes`"
    ),
    wrong="list leaves pending_writes empty to save a query",
)

ACCEPTS_TASK_PATH = Contract(
    id="pending-writes/accepts-task-path",
    level=Level.SHOULD,
    statement="put_writes and aput_writes have a parameter named task_path.",
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.put_writes`; "
        "`langgraph.pregel._checkpoint.put_writes_accepts_task_path` looks at the signature"
    ),
    wrong="the signature ends at task_id, or takes *args: LangGraph then never sends the path",
)

NAMESPACE_DEFAULTS = Contract(
    id="pending-writes/namespace-defaults",
    level=Level.SHOULD,
    statement="put_writes takes a config without a namespace as the root namespace.",
    source="`langgraph.checkpoint.memory.InMemorySaver.put_writes`",
    wrong='`config["configurable"]["checkpoint_ns"]` raises KeyError',
)

TABLE = FamilyTable(
    name="pending-writes",
    title="what a node wrote before the next checkpoint took it up",
    contracts=contracts_in(globals()),
)
