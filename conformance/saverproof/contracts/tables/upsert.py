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
)

REPUT_KEEPS_WRITES = Contract(
    id="upsert/reput-keeps-writes",
    statement="Putting a checkpoint id again leaves its pending writes as they were.",
    source="`langgraph.checkpoint.memory.InMemorySaver.put` does not touch the writes",
    wrong="INSERT OR REPLACE deletes the row, and ON DELETE CASCADE takes its writes along",
)

REGULAR_WRITE_FIRST_WINS = Contract(
    id="upsert/regular-write-first-wins",
    statement=(
        "A write of a task and index that is stored already keeps its first value, and new "
        "indexes of the same task are added."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.put_writes`",
    wrong="every write is upserted, so that a retried task changes what was already acted on",
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
)

TABLE = FamilyTable(
    name="upsert",
    title="the same thing stored twice",
    contracts=contracts_in(globals()),
)
