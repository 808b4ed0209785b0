"""Contracts on several users of one store."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_LINEARIZABLE = frozenset({"concurrency/linearizable"})

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
    implies=_LINEARIZABLE,
)

PROCESSES_LOSE_NOTHING = Contract(
    id="concurrency/processes-lose-nothing",
    statement=(
        "With several processes on one store every operation that returned took effect once, "
        "and one that raised took none; errors such as 'locked' are advice."
    ),
    source="saverproof: workers of one server share a store; an acknowledgement is a promise",
    wrong="each process rewrites the whole file from its own copy of the state",
    needs=frozenset({Capability.MANY_PROCESSES}),
    durable=True,
    implies=_LINEARIZABLE,
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
    implies=_LINEARIZABLE,
)

LINEARIZABLE = Contract(
    id="concurrency/linearizable",
    level=Level.SHOULD,
    statement="The history of each key has a legal order that respects real time.",
    source="advice; Herlihy and Wing, 'Linearizability', TOPLAS 1990",
    wrong="reads are answered from a replica or a cache that is behind",
)

ITERATION_DOES_NOT_BLOCK = Contract(
    id="concurrency/iteration-does-not-block",
    level=Level.SHOULD,
    statement=(
        "Between two items of `list`, any operation may be called on the same saver, from the "
        "same thread or task."
    ),
    source="advice; issue langchain-ai/langgraph#8558",
    wrong="the generator yields while it holds the saver's lock",
)

READS_CHANGE_NOTHING = Contract(
    id="concurrency/reads-change-nothing",
    level=Level.SHOULD,
    statement="A read of something unknown leaves no trace in the store.",
    source="advice; issue langchain-ai/langgraph#8754",
    wrong="a defaultdict makes an entry for every thread that was asked for",
)

FIRST_USE_RACE = Contract(
    id="concurrency/first-use-race",
    level=Level.SHOULD,
    statement="Several processes may create the same new store at once.",
    source="advice; workers of one server start together on an empty store",
    wrong="setup checks whether a table exists and then creates it, in two steps",
    needs=frozenset({Capability.MANY_PROCESSES}),
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
