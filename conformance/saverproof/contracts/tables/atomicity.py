"""Contracts on operations that fail, judged by injected faults."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_LOADS = (
    "`langgraph.pregel._loop.SyncPregelLoop.__enter__` goes on from whatever the saver holds, and"
)

ALL_OR_NOTHING = Contract(
    id="atomicity/all-or-nothing",
    statement=(
        "An operation that raised left nothing or all of what it stores, and never a part, seen by "
        "the same saver, by a fresh one and by a second connection; prune and delete_for_runs are "
        "judged thread by thread."
    ),
    source=f"{_LOADS} takes a part of a batch for a finished task",
    wrong="each row is committed by itself",
    matters=(
        "After an error that was told, half of a step is stored: the agent takes a node for "
        "finished whose results are partly missing."
    ),
    fix=(
        "Make each operation one transaction: begin, all statements, commit; roll back on any "
        "exception, BaseException too."
    ),
    implies=frozenset({"atomicity/previous-intact"}),
)

NO_LATE_COMMIT = Contract(
    id="atomicity/no-late-commit",
    statement=("What a failed operation left undone stays undone when later operations commit."),
    source=f"{_LOADS} cannot tell a write that was refused from one that was accepted",
    wrong="no rollback: the rows of the failed call wait in the open transaction",
    matters=(
        "A step that failed, and that was repeated or given up, appears later in the conversation."
    ),
    fix=(
        "Roll back in the except or finally of every operation, before the connection is used "
        "again."
    ),
    implies=frozenset({"atomicity/all-or-nothing", "atomicity/usable-after"}),
)

USABLE_AFTER = Contract(
    id="atomicity/usable-after",
    statement=(
        "After a failed operation the saver works again without reopening: no transaction "
        "open, no lock held, no stale view."
    ),
    source=(
        "saverproof: one saver serves all threads of a server, and one failed call must not stop "
        "the others"
    ),
    wrong="lock.acquire() without try/finally, or a transaction that is never ended",
    matters="One failed call stops all conversations of the server until it is restarted.",
    fix="Hold locks and transactions in `with` blocks, and replace a connection that is broken.",
)

USABLE_AFTER_LOST_CONNECTION = Contract(
    id="atomicity/usable-after-lost-connection",
    level=Level.SHOULD,
    statement="After its connection was lost the saver works again without reopening.",
    source="advice; connections of long-lived servers are lost by restarts and idle time-outs",
    wrong="one connection is kept for ever and never replaced",
    matters="A short restart of the database needs a restart of every agent server.",
    fix=(
        "Use a pool that checks its connections, or open a new one after an error that says that "
        "the old one is gone."
    ),
)

NO_SILENT_LOSS = Contract(
    id="atomicity/no-silent-loss",
    statement="An operation that returned without an error is stored.",
    source=f"{_LOADS} never asks again for what was acknowledged",
    wrong="except Exception: log and return, or a background queue that drops on error",
    matters="The agent tells its user that something is done, and after a restart it is not.",
    fix=(
        "Let exceptions reach the caller, and return only when the commit has succeeded; no queue "
        "that answers first."
    ),
)

CANCELLED = Contract(
    id="atomicity/cancelled",
    statement=(
        "An await that is cancelled leaves all of its operation or nothing, judged once the "
        "work has settled, and the saver stays usable."
    ),
    source=(
        "`langgraph.pregel.Pregel.abulk_update_state` awaits the saver in the caller's task, "
        "which a time-out or a client that leaves cancels"
    ),
    wrong="a cancelled await between two statements leaves the first one in the transaction",
    matters=(
        "A user who closes the page, or a time-out, leaves half of a step in the store, or a saver "
        "that hangs."
    ),
    fix=(
        "Shield the transaction (`asyncio.shield`, a thread that finishes it), or roll back when "
        "CancelledError arrives, and release the lock in any case."
    ),
    needs=frozenset({Capability.ASYNC}),
)

PREVIOUS_INTACT = Contract(
    id="atomicity/previous-intact",
    statement="After a failed operation the previous checkpoint reads as before.",
    source=f"{_LOADS} the previous checkpoint is the only way back",
    wrong="the old row is deleted and committed before the new one is inserted",
    matters="A failed save destroys the last good state, and the conversation is lost.",
    fix=(
        "Delete nothing before the new is written, or do both in one transaction; replace files by "
        "writing a new one and `os.replace`."
    ),
    implies=frozenset({"atomicity/all-or-nothing"}),
)

FAILED_READS_RAISE = Contract(
    id="atomicity/failed-reads-raise",
    statement=(
        "A read whose storage fails, or whose await is cancelled, raises, or answers what is "
        "stored: `get_tuple` does not answer None, nor `list` fewer checkpoints."
    ),
    source=(
        "`BaseCheckpointSaver.get_tuple`: None says that there is no such checkpoint; "
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` then begins the thread anew, with an "
        "empty checkpoint"
    ),
    wrong="except Exception: log it, and return None; or the same for a CancelledError",
    matters=(
        "A short outage of the database, and the agent has forgotten the conversation: it begins "
        "anew, and what it saves then is the latest."
    ),
    fix=(
        "Let the error out, or ask again; return None only where the store says that nothing is "
        "there."
    ),
)

TABLE = FamilyTable(
    name="atomicity",
    title="a call that fails leaves nothing behind, and says so",
    phase="fault",
    long=True,
    contracts=contracts_in(globals()),
)
