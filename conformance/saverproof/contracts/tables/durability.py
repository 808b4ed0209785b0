"""Contracts on what a killed process leaves behind."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_DURABILITY = "`langgraph.types.Durability`: 'sync' saves before the next step starts"

ACKNOWLEDGED_SURVIVES = Contract(
    id="durability/acknowledged-survives",
    statement=(
        "Every acknowledged operation is there after the process was killed, or its server with it."
    ),
    source=_DURABILITY,
    wrong="data is committed on close, or by a timer",
    matters=(
        "A server that is killed (out of memory, a new deployment) forgets steps that were done; "
        "payments and messages are made again."
    ),
    fix="Commit before you return; no write-behind, no timer, no commit on close.",
    durable=True,
    implies=frozenset(
        {
            "durability/no-gaps",
            "durability/no-rerun",
            "durability/power-cut-loses-nothing",
            "durability/resume",
        }
    ),
)

IN_FLIGHT_ATOMIC = Contract(
    id="durability/in-flight-atomic",
    statement=(
        "The operation that was in flight when the process was killed is there whole or not at "
        "all; prune and delete_for_runs are judged thread by thread."
    ),
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` goes on from whatever is stored; "
        "`langgraph.pregel._task_status` takes any output write for a finished task"
    ),
    wrong="checkpoint and values, or the rows of a batch, are committed one after the other",
    matters=(
        "After a crash the agent goes on from half a step, and a node counts as finished whose "
        "results are partly missing."
    ),
    fix=(
        "Write a checkpoint, its values and all rows of a batch in one transaction; for files, a "
        "temporary file and `os.replace`."
    ),
    durable=True,
    implies=frozenset({"durability/resume"}),
)

NO_GAPS = Contract(
    id="durability/no-gaps",
    statement="No later operation of a writer survives without every earlier one of it.",
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop._checkpointer_put_after_previous` waits for "
        "the previous put"
    ),
    wrong="operations are spread over files or connections that are flushed independently",
    matters=(
        "After a crash the history has a hole: a later state exists, and the one that it was built "
        "on does not."
    ),
    fix=(
        "Write through one connection or log in order, and wait for each commit before the next "
        "operation."
    ),
    durable=True,
)

REOPENS = Contract(
    id="durability/reopens",
    statement=(
        "After a kill the store opens without repair by hand, passes its integrity check and "
        "accepts writes."
    ),
    source="saverproof: a service restarts by itself after a crash",
    wrong="a lock file of the dead process is honoured, or a half-written file is not replaced",
    matters="After a crash someone has to repair the store by hand before any agent works again.",
    fix=(
        "Rely on the database's own recovery; take locks that end with the process (flock), and "
        "ignore half-written temporary files."
    ),
    durable=True,
    implies=frozenset(
        {
            "durability/acknowledged-survives",
            "durability/in-flight-atomic",
            "durability/no-rerun",
            "durability/power-cut-loses-nothing",
            "durability/resume",
        }
    ),
)

RESUME = Contract(
    id="durability/resume",
    statement=(
        "A deterministic graph that was killed after its first acknowledged checkpoint and "
        "resumed with None, or killed before it and given its input again, ends in the state "
        "of an uninterrupted run."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop._first` (None resumes); LangGraph documentation, "
        "'Durable execution'"
    ),
    wrong="the latest checkpoint is there, but without its pending writes or channel values",
    matters=(
        "An agent that was interrupted by a crash does not end up where it would have, although it "
        "was resumed as documented."
    ),
    fix=(
        "Store pending writes as durably as checkpoints, and read both back for the same "
        "checkpoint."
    ),
    durable=True,
)

NO_RERUN = Contract(
    id="durability/no-rerun",
    statement=(
        "A node whose output writes were acknowledged, on a checkpoint whose put was "
        "acknowledged too, is not executed again when the thread is resumed with None."
    ),
    source=(
        "`langgraph.pregel._loop.PregelLoop._reapply_writes_to_succeeded_nodes`; "
        "`langgraph.pregel._task_status.read_task_statuses`"
    ),
    wrong="pending writes are kept in memory until the next checkpoint is put",
    matters=(
        "A node that was finished runs again after a crash: an e-mail is sent twice, a card "
        "charged twice."
    ),
    fix="Commit put_writes before it returns, under the checkpoint id of its config.",
    durable=True,
)

POWER_CUT = Contract(
    id="durability/power-cut",
    level=Level.SHOULD,
    statement=(
        "When a power cut loses unsynced data, the store still opens, without torn or "
        "reordered commits; the commits that were lost are counted."
    ),
    source="advice; https://www.sqlite.org/pragma.html#pragma_synchronous for SQLite",
    wrong="PRAGMA synchronous=OFF, or a file that is replaced without fsync",
    matters="After a power cut the store is damaged, or has a later step without an earlier one.",
    fix=(
        "For SQLite, use WAL with `synchronous=FULL` (or NORMAL, if the last commits may go); for "
        "files, fsync the new file and its folder around `os.replace`. The tail of a log may be "
        "torn: end it at the first record whose checksum is not right, whatever bytes that holds."
    ),
    durable=True,
    implies=frozenset({"durability/power-cut-loses-nothing"}),
)

POWER_CUT_LOSES_NOTHING = Contract(
    id="durability/power-cut-loses-nothing",
    level=Level.SHOULD,
    statement=(
        "What was acknowledged is there after a power cut: the files, and the folders that hold "
        "their names, were synced before the operation returned."
    ),
    source=(
        "advice; https://man7.org/linux/man-pages/man2/fsync.2.html: a sync of a file need not "
        "reach the entry in its folder; https://wiki.postgresql.org/wiki/Fsync_Errors: one that "
        "fails drops what it should have written"
    ),
    wrong=(
        "the folder is not synced after a rename, synchronous=NORMAL with SQLite's WAL, or a "
        "failed sync is made again"
    ),
    matters=(
        "After a power cut the last steps that users were told are done are gone, and run again."
    ),
    fix=(
        "Sync before you return: for SQLite `synchronous=FULL` with a WAL, and `EXTRA` with a "
        "journal that is deleted; for files, fsync the new file before `os.replace`, and its "
        "folder after it. If a sync fails, raise, and write anew what it covered: the next one "
        "succeeds without it."
    ),
    durable=True,
)

TABLE = FamilyTable(
    name="durability",
    title="what was acknowledged survives a killed process",
    phase="crash",
    long=True,
    contracts=contracts_in(globals()),
)
