"""Contracts on what a killed process leaves behind."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_DURABILITY = "`langgraph.types.Durability`: 'sync' saves before the next step starts"

ACKNOWLEDGED_SURVIVES = Contract(
    id="durability/acknowledged-survives",
    statement="Every acknowledged operation is there after the process was killed.",
    source=_DURABILITY,
    wrong="data is committed on close, or by a timer",
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
        "The operation that was in flight when the process was killed is there whole or not at all."
    ),
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` goes on from whatever is stored; "
        "`langgraph.pregel._task_status` takes any output write for a finished task"
    ),
    wrong="checkpoint and values, or the rows of a batch, are committed one after the other",
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
        "reach the entry in its folder"
    ),
    wrong="the folder is not synced after a rename, or synchronous=NORMAL with SQLite's WAL",
    durable=True,
)

TABLE = FamilyTable(
    name="durability",
    title="what was acknowledged survives a killed process",
    phase="crash",
    long=True,
    contracts=contracts_in(globals()),
)
