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
    matters=(
        "Results of nodes that had finished before a crash are missing or changed on resume: their "
        "updates are lost, or they run again."
    ),
    fix=(
        "Key writes by thread, namespace, checkpoint, task and index, store None like any value, "
        "and return them all."
    ),
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
    matters=(
        "An interrupt overwrites the first result of its own task, and a node's output is gone "
        "after the human has answered."
    ),
    fix=(
        "Take the index as `WRITES_IDX_MAP.get(channel, position)`, where position counts all "
        "writes of the batch."
    ),
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
    matters=(
        "A result of one run, subgraph or conversation appears in another; the other skips a node "
        "that it has never run."
    ),
    fix=(
        "Put thread, namespace and checkpoint id into the key of the writes and into every WHERE "
        "that reads or deletes them."
    ),
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
    matters=(
        "LangGraph saves a checkpoint and the writes on it at the same time; now and then the "
        "results of finished nodes are lost, and the nodes run twice."
    ),
    fix=(
        "Store writes whether or not their checkpoint is there: no foreign key, no clean-up of "
        "writes in put."
    ),
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
    matters=(
        "A change made to an earlier state (`update_state`, a fork from the history) lands on "
        "another checkpoint, or nowhere."
    ),
    fix="Write to the checkpoint id in the config, never to the latest one.",
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
    matters=(
        "The order of a task's results changes on resume, and with it the order of messages in the "
        "state."
    ),
    fix="Store the task path with every write, not once for a task.",
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
    matters="A node that writes nothing that is tracked ends the run with an error.",
    fix="Return at once when the batch is empty.",
)

SAME_IN_LIST = Contract(
    id="pending-writes/same-in-list",
    statement="`list` shows the same pending writes on a checkpoint as `get_tuple` does.",
    source=(
        "`langgraph.pregel.Pregel.get_state_history`; "
        "`langgraph.checkpoint.conformance.spec.test_list.test_list_includes_pending_writes`"
    ),
    wrong="list leaves pending_writes empty to save a query",
    matters=(
        "`get_state_history` shows interrupts and tasks other than `get_state` does: a user "
        "interface built on the history has no questions to show."
    ),
    fix="Read the writes by the same code in `list` and in `get_tuple`.",
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
    matters=(
        "LangGraph looks at the signature and leaves the path out, so that writes of nested tasks "
        "may be sorted wrongly."
    ),
    fix=(
        'Declare `put_writes(self, config, writes, task_id, task_path="")`, and the same for '
        "aput_writes."
    ),
)

NAMESPACE_DEFAULTS = Contract(
    id="pending-writes/namespace-defaults",
    level=Level.SHOULD,
    statement="put_writes takes a config without a namespace as the root namespace.",
    source="`langgraph.checkpoint.memory.InMemorySaver.put_writes`",
    wrong='`config["configurable"]["checkpoint_ns"]` raises KeyError',
    matters="Tools that write to the root without naming the namespace fail with KeyError.",
    fix='Read `configurable.get("checkpoint_ns", "")`.',
)

TABLE = FamilyTable(
    name="pending-writes",
    title="what a node wrote before the next checkpoint took it up",
    contracts=contracts_in(globals()),
)
