"""Contracts on opening, setting up, leaving and closing a saver."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

REOPEN = Contract(
    id="lifecycle/reopen",
    statement="A saver opened again on the same store shows everything.",
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver`: agents persist their state within "
        "and across interactions"
    ),
    wrong="a part of the state lives in memory alone, or is written only by an explicit flush",
    matters="After a restart or a new deployment the conversations are gone, in whole or in part.",
    fix="Commit in every operation, and keep nothing in memory that the store does not have.",
    durable=True,
    implies=frozenset(
        {
            "concurrency/processes-lose-nothing",
            "durability/acknowledged-survives",
            "durability/in-flight-atomic",
            "durability/no-gaps",
            "durability/no-rerun",
            "durability/reopens",
            "durability/resume",
        }
    ),
)

SETUP_IDEMPOTENT = Contract(
    id="lifecycle/setup-idempotent",
    statement="Setting up a store that exists already changes nothing in it.",
    source="`langgraph.checkpoint.sqlite.SqliteSaver.setup` makes tables only if absent",
    wrong="setup drops and creates the tables, or raises because they exist",
    matters="A second worker, or the next start, empties the store or fails.",
    fix="Use `CREATE TABLE IF NOT EXISTS` and numbered migrations, each applied once.",
    durable=True,
)

ANY_FIRST_OPERATION = Contract(
    id="lifecycle/any-first-operation",
    statement=(
        "After set-up any operation, delete_thread too, may be the first one on a new store."
    ),
    source="saverproof: which operation comes first is up to the application",
    wrong="tables are created in put, so that a list or delete before it raises",
    matters=(
        "A fresh installation fails for the first user who looks at a history, or deletes a "
        "conversation."
    ),
    fix="Create the tables in setup, not in put.",
    implies=frozenset({"lifecycle/any-first-operation-before-setup"}),
)

ANY_FIRST_OPERATION_BEFORE_SETUP = Contract(
    id="lifecycle/any-first-operation-before-setup",
    level=Level.SHOULD,
    statement=(
        "Any operation may be the first one on a new store, also when the saver's set-up was "
        "not called."
    ),
    source=(
        "advice; `langgraph.checkpoint.sqlite.SqliteSaver.cursor` sets the store up on first use"
    ),
    wrong="put sets the store up, and delete_thread does not",
    matters="A fresh installation fails if nobody called setup.",
    fix="Call setup in every operation, guarded by a flag that is set once it has succeeded.",
)

ABANDONED_LIST = Contract(
    id="lifecycle/abandoned-list",
    statement=(
        "Leaving `list` or `alist` after the first item, by break or by return, leaves the "
        "saver usable."
    ),
    source="`langgraph._internal._replay.ReplayState.get_checkpoint` returns at the first item",
    wrong="the generator holds a lock or a cursor until it is exhausted",
    matters=(
        "After one replayed subgraph the saver blocks, and all conversations of the server with it."
    ),
    fix=(
        "Read the rows into a list before the first yield, or hold locks and cursors in a `with` "
        "that ends with the generator; never across a yield on the main connection."
    ),
)

SHALLOW_CLONE = Contract(
    id="lifecycle/shallow-clone",
    statement=(
        "The shallow copy that `with_allowlist` makes, with another serializer, reads and "
        "writes the same data, and dropping it harms neither."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.with_allowlist`; "
        "`langgraph.pregel.Pregel._apply_checkpointer_allowlist`"
    ),
    wrong="`__del__` closes the connection that the copy shares with its original",
    matters=(
        "Compiling a graph with an allowlist breaks the saver of all graphs when the copy is "
        "collected."
    ),
    fix=(
        "Do not close what copies share in `__del__`; copies made by `copy.copy` must work, with "
        "locks and connections shared."
    ),
    since="4.1",
    needs=frozenset({Capability.SERIALIZER}),
)

SAVERS_BY_TURNS = Contract(
    id="lifecycle/savers-by-turns",
    statement=(
        "Two savers that are open on one store and are used by turns keep and answer what one "
        "alone would."
    ),
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop` puts and reads through the saver that its process "
        "has opened; workers of one server share a store, and a thread goes from one to another"
    ),
    wrong="a saver does not store again what it has stored, though another one has deleted it",
    matters=(
        "A thread that one worker deletes and another begins anew lacks values, checkpoints or "
        "writes: the next run starts from a state that never was."
    ),
    fix=(
        "Ask the store what it holds, within the transaction that writes (`INSERT … ON CONFLICT`), "
        "and keep no record of it in the saver."
    ),
    durable=True,
    needs=frozenset({Capability.MANY_PROCESSES}),
)

CLOSE_IDEMPOTENT = Contract(
    id="lifecycle/close-idempotent",
    level=Level.SHOULD,
    statement="Closing a saver twice is fine.",
    source="advice; close of a Python file, and of sqlite3.Connection, can be repeated",
    wrong="close deletes its connection attribute and raises AttributeError the second time",
    matters="A clean shutdown logs an error, and hides the real one.",
    fix="Remember that it is closed, and return.",
)

TABLE = FamilyTable(
    name="lifecycle",
    title="opening, setting up, closing and opening again",
    contracts=contracts_in(globals()),
)
