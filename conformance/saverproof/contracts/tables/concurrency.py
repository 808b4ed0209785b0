"""Contracts on several users of one store."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_LINEARIZABLE = frozenset({"concurrency/linearizable"})
_ALL_THAT_IS_LEFT = _LINEARIZABLE | {
    "concurrency/prune-spares-live-runs",
    "concurrency/copy-of-one-moment",
    "concurrency/deletion-is-whole",
    "concurrency/late-writer",
}
"""Contracts that follow from callers losing what they put, whatever other operations run beside
them.
"""

THREADS_LOSE_NOTHING = Contract(
    id="concurrency/threads-lose-nothing",
    statement=(
        "Operations from many threads, or many tasks, on one saver all take effect once, "
        "without errors."
    ),
    source=(
        "`langgraph.pregel._executor.BackgroundExecutor` runs put and put_writes in a pool of "
        "threads"
    ),
    wrong="one connection or dict is shared without a lock",
    matters=(
        "Under load, results of parallel nodes or of other users' runs vanish, or calls fail at "
        "random."
    ),
    fix=(
        "Guard the shared connection by a lock around the whole transaction, or give each thread "
        "its own. Put nothing into a cache that was read before the last change."
    ),
    implies=_ALL_THAT_IS_LEFT,
)

PROCESSES_LOSE_NOTHING = Contract(
    id="concurrency/processes-lose-nothing",
    statement=(
        "With several processes on one store every operation that returned took effect once, "
        "and one that raised took none; errors such as 'locked' are advice."
    ),
    source="saverproof: workers of one server share a store; an acknowledgement is a promise",
    wrong="each process rewrites the whole file from its own copy of the state",
    matters="With several workers, one overwrites what another has saved.",
    fix=(
        "Let the database do the change (`BEGIN IMMEDIATE`, row locks) instead of reading, "
        "changing and writing back a whole state."
    ),
    needs=frozenset({Capability.MANY_PROCESSES}),
    durable=True,
    implies=_ALL_THAT_IS_LEFT,
)

NO_TORN_READS = Contract(
    id="concurrency/no-torn-reads",
    statement=(
        "A reader sees each operation whole or not at all; a listing is judged tuple by tuple."
    ),
    source=(
        "saverproof: `langgraph.pregel.Pregel.get_state` may run while the graph does, and goes "
        "on from half of what was stored; InMemorySaver breaks it"
    ),
    wrong="checkpoint, values and writes are read by several queries without a snapshot",
    matters="A user who looks while the agent works sees, or resumes from, a state that never was.",
    fix=(
        "Read checkpoint, values and writes in one statement, or in one transaction that sees one "
        "moment: on most servers READ COMMITTED does not, REPEATABLE READ does."
    ),
    implies=_LINEARIZABLE,
)

INSTANCES_AGREE = Contract(
    id="concurrency/instances-agree",
    statement=(
        "What one saver acknowledged, a saver that was already open on the same store, in the "
        "same process or another, answers with at once; nothing that it answered before, an "
        "empty answer included, is kept against it."
    ),
    source=(
        "`langgraph.pregel._loop.SyncPregelLoop.__enter__` begins a thread anew where the saver "
        "has nothing, and goes on from whatever it gives; workers of one server share a store"
    ),
    wrong="the latest checkpoint, or that there is none, is cached by the instance that read it",
    matters=(
        "A worker that serves the next message of a conversation does not know what another one "
        "has saved: it starts anew, or from an old state."
    ),
    fix=(
        "Ask the store each time, or keep an answer only with what tells that nothing has changed "
        "since (SQLite: `PRAGMA data_version`)."
    ),
    durable=True,
    implies=_LINEARIZABLE,
)

LINEARIZABLE = Contract(
    id="concurrency/linearizable",
    level=Level.SHOULD,
    statement="The history of each key has a legal order that respects real time.",
    source="advice; Herlihy and Wing, 'Linearizability', TOPLAS 1990",
    wrong="a cache is cleared before the write, and a read meanwhile fills it again",
    matters=(
        "A state that was just saved is not there when it is read a moment later, so that a run "
        "starts from an old one."
    ),
    fix="Read from the primary, and drop cached entries before a write is acknowledged.",
)

ITERATION_DOES_NOT_BLOCK = Contract(
    id="concurrency/iteration-does-not-block",
    level=Level.SHOULD,
    statement=(
        "Between two items of `list`, any operation may be called on the same saver, from the "
        "same thread or task, and what was there before is listed all the same, once."
    ),
    source="advice; issue langchain-ai/langgraph#8558",
    wrong="the generator yields while it holds the saver's lock",
    matters="Code that goes through a history and writes on the way hangs for ever.",
    fix="Fetch the rows, or a page of them, release the lock, then yield.",
)

READS_CHANGE_NOTHING = Contract(
    id="concurrency/reads-change-nothing",
    level=Level.SHOULD,
    statement="A read of something unknown leaves no trace in the store.",
    source="advice; issue langchain-ai/langgraph#8754",
    wrong="a defaultdict makes an entry for every thread that was asked for",
    matters=(
        "Asking for unknown threads fills memory or the database, and makes threads appear that "
        "nobody started."
    ),
    fix="Use `.get` in place of a defaultdict, and no insert on reading.",
)

FIRST_USE_RACE = Contract(
    id="concurrency/first-use-race",
    level=Level.SHOULD,
    statement="Several processes may create the same new store at once.",
    source="advice; workers of one server start together on an empty store",
    wrong="setup checks whether a table exists and then creates it, in two steps",
    matters="The first start of several workers fails now and then.",
    fix=(
        "Use `CREATE TABLE IF NOT EXISTS` and take the migration lock (`BEGIN IMMEDIATE`, an "
        "advisory lock) before looking."
    ),
    needs=frozenset({Capability.MANY_PROCESSES}),
    durable=True,
)

PRUNE_SPARES_LIVE_RUNS = Contract(
    id="concurrency/prune-spares-live-runs",
    statement=(
        '`prune` with "keep_latest" leaves whole the newest checkpoint that it finds, and all that '
        "a run puts meanwhile: unchanged values and writes before their checkpoint too; it may "
        "raise, to be called again."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.prune` (retains the most recent "
        "checkpoint); `langgraph.checkpoint.postgres.PostgresSaver.prune` 3.2 (a run appending to "
        "the thread meanwhile is safe, retrying is safe)"
    ),
    wrong="the newest id is read, and all others are deleted in a second transaction",
    matters=(
        "A job that tidies up at night deletes what an agent has just saved: it goes on from an "
        "older state, or begins anew."
    ),
    fix=(
        "Choose and delete in one transaction, and delete by the ids that were found, not by what "
        "is not the newest; keep each value that a checkpoint which stays names."
    ),
    needs=frozenset({Capability.PRUNE, Capability.HISTORY}),
)

COPY_OF_ONE_MOMENT = Contract(
    id="concurrency/copy-of-one-moment",
    statement=(
        "`copy_thread` makes a copy of one moment: with each checkpoint and batch of writes all "
        "that had been acknowledged before it, in every namespace, whatever a run puts, or someone "
        "deletes, meanwhile; that run comes out as without it."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.copy_thread` (all checkpoints and "
        "writes, the complete parent chain; nothing of the source is changed)"
    ),
    wrong="checkpoints and writes are copied one after the other while others are put",
    matters=(
        "A fork of a conversation begins from a state that never was: a checkpoint without the "
        "writes it had, or without its parent."
    ),
    fix="Copy all tables in one transaction that reads one snapshot, or under the writers' lock.",
    needs=frozenset({Capability.COPY_THREAD, Capability.HISTORY}),
)

DELETION_IS_WHOLE = Contract(
    id="concurrency/deletion-is-whole",
    statement=(
        'When `delete_thread` or `prune` with "delete" returns, nothing is left of before it '
        "began, and what is put from then on is there whole; `delete_for_runs` leaves all that "
        "another run of the thread puts meanwhile; graphs of other threads, and of other runs that "
        "have put what they go on with, come out as without it."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.delete_thread` and `delete_for_runs` "
        "(all checkpoints and writes associated with an id); an acknowledgement is a promise"
    ),
    wrong="threads that are all of a run are looked up, then deleted by their ids",
    matters=(
        "A run that shares its thread with one that is deleted loses what it was told is saved."
    ),
    fix="Find and delete in one transaction, by the checkpoints that were found.",
    needs=frozenset({Capability.DELETE_THREAD, Capability.HISTORY}),
)

LATE_WRITER = Contract(
    id="concurrency/late-writer",
    level=Level.SHOULD,
    statement=(
        "What a run puts while its thread is deleted, or afterwards, is refused or gone, or is "
        "there whole: each checkpoint with all its values, unchanged ones too, and its writes."
    ),
    source="advice; issue langchain-ai/langgraph#7206",
    wrong="values and writes are deleted after checkpoints, each by another snapshot of the thread",
    matters=(
        "A worker that does not know of the deletion brings the thread back without most of its "
        "state, and the next message is answered from that."
    ),
    fix=(
        "Delete under the lock that writers take (SQLite: `BEGIN IMMEDIATE`; PostgreSQL: an "
        "advisory lock of the thread, or REPEATABLE READ), and store a value that is not there "
        "although the checkpoint names it, or refuse a put whose parent is gone."
    ),
    needs=frozenset({Capability.DELETE_THREAD}),
)

LOOP_GOES_ON = Contract(
    id="concurrency/loop-goes-on",
    statement=(
        "While an awaited operation waits for the database, the event loop goes on: other tasks "
        "take their turns."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver` (async versions are there to avoid "
        "blocking the main thread)"
    ),
    wrong="async methods call their sync twins on the loop's own thread",
    matters=(
        "While one user's state is saved, a server answers nobody: a slow database stops every "
        "conversation of the process, and its health checks too."
    ),
    fix=(
        "Use the driver's async API, or run the sync method in a thread (`asyncio.to_thread`), the "
        "whole of it with every page of a listing; hold no `threading.Lock` on the loop for which "
        "a thread may have to be waited for."
    ),
    needs=frozenset({Capability.ASYNC}),
    # What is kept in memory is there at once.
    durable=True,
)

TABLE = FamilyTable(
    name="concurrency",
    title="many threads and processes on one store",
    phase="concurrency",
    long=True,
    # Callers that meet each other do so while they wait for a disk.
    in_memory=False,
    contracts=contracts_in(globals()),
)
