"""Contracts on storing the same thing again."""

from __future__ import annotations

from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

PUT_IS_IDEMPOTENT = Contract(
    id="upsert/put-is-idempotent",
    statement="Putting the same checkpoint twice leaves one checkpoint, unchanged.",
    source=(
        "`langgraph.checkpoint.base.Checkpoint`: the id is unique; "
        "`langgraph.checkpoint.memory.InMemorySaver.put`"
    ),
    wrong="a plain INSERT without a key adds a second row, or raises on the retry",
    matters=(
        "A put that is repeated after a time-out makes a second entry in the history, or fails a "
        "run that was saved already."
    ),
    fix="Make thread, namespace and checkpoint id the primary key, and write with an upsert.",
    implies=frozenset({"upsert/put-replaces"}),
)

PUT_REPLACES = Contract(
    id="upsert/put-replaces",
    statement=(
        "Putting a checkpoint id again with new content leaves one checkpoint, with the "
        "content and metadata of the last put."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.put`",
    wrong="INSERT OR IGNORE keeps the first content, or metadata is left out of the update",
    matters=(
        'LangGraph stores a checkpoint again with more in it (durability mode "exit", '
        "`update_state`); the old content stays, and the newest work of the agent is gone."
    ),
    fix=(
        "Use `INSERT ... ON CONFLICT DO UPDATE` and set every column, metadata and values included."
    ),
)

REPUT_KEEPS_WRITES = Contract(
    id="upsert/reput-keeps-writes",
    statement="Putting a checkpoint id again leaves its pending writes as they were.",
    source="`langgraph.checkpoint.memory.InMemorySaver.put` does not touch the writes",
    wrong="INSERT OR REPLACE deletes the row, and ON DELETE CASCADE takes its writes along",
    matters=(
        "An answer that a person gave to an interrupt, or the result of a parallel node, "
        "disappears when the checkpoint is stored again; the node runs again."
    ),
    fix=(
        "Update the row in place; `INSERT OR REPLACE` deletes it first, and a cascading foreign "
        "key or your own clean-up takes the writes along."
    ),
)

REGULAR_WRITE_FIRST_WINS = Contract(
    id="upsert/regular-write-first-wins",
    statement=(
        "A write of a task and index that is stored already keeps its first value, and new "
        "indexes of the same task are added."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.put_writes`",
    wrong="every write is upserted, so that a retried task changes what was already acted on",
    matters=(
        "A node that is tried again changes a result on which others have acted already, so that "
        "the state contradicts what the agent did."
    ),
    fix=(
        "Use `INSERT ... ON CONFLICT DO NOTHING` on thread, namespace, checkpoint, task and index "
        "for writes with a non-negative index."
    ),
)

SPECIAL_WRITE_LAST_WINS = Contract(
    id="upsert/special-write-last-wins",
    statement=(
        "A batch of nothing but error, scheduled, interrupt or resume writes replaces the "
        "earlier ones of that task on the same channels."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop.put_writes` (the last special write wins); "
        "`langgraph.checkpoint.memory.InMemorySaver.put_writes`"
    ),
    wrong="INSERT OR IGNORE for all writes: the second answer to an interrupt is dropped",
    matters=(
        "The second answer to an interrupt is dropped and the agent goes on with the first: the "
        "human's correction is lost."
    ),
    fix=(
        "Upsert the channels of `WRITES_IDX_MAP` (error, scheduled, interrupt, resume): `ON "
        "CONFLICT DO UPDATE`."
    ),
    implies=frozenset({"upsert/special-write-last-wins-mixed"}),
)

SPECIAL_WRITE_LAST_WINS_MIXED = Contract(
    id="upsert/special-write-last-wins-mixed",
    statement=(
        "In a batch that holds regular writes as well, error, scheduled, interrupt and resume "
        "writes still replace the task's earlier ones, while the regular ones keep their first "
        "value."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop.put_writes` (for the null task the writes before are "
        "kept beside those of a Command with update and resume, which are one batch)"
    ),
    wrong="one SQL statement is chosen for the whole batch by `all(channel is special)`",
    matters=(
        "`Command(resume=..., update=...)` stores both in one batch: the new answer is dropped, "
        "and the agent is resumed with an old one."
    ),
    fix="Choose between update and ignore for each write by its channel, not once for the batch.",
)

TABLE = FamilyTable(
    name="upsert",
    title="the same thing stored twice",
    contracts=contracts_in(globals()),
)
