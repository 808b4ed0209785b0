"""Contracts on what a process holds for its saver."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

FLAT = Contract(
    id="resources/flat",
    statement=(
        "However often operations are called, raise, are cancelled or left half-way, and however "
        "often the saver is opened and closed, nothing stays for it: descriptors, threads, tasks, "
        "connections, places in a pool, temporary files, objects and memory are what they were "
        "after the first few."
    ),
    # LangGraph promises nothing of the kind. It is a must because what leaks ends the process: it
    # runs out of descriptors or memory with work that users were told is done, and every official
    # saver keeps it.
    source=(
        "saverproof: a server keeps one saver for months; issues langchain-ai/langgraph#7094 and "
        "langchain-ai/langgraph#8054; every official saver keeps it"
    ),
    wrong="a connection is opened for each call, and closed by nobody",
    matters=(
        "The process that serves all conversations runs out of descriptors, connections or memory "
        "after some days, and ends in the midst of them."
    ),
    fix=(
        "Open in a `with` block, give back in a `finally`, await every task that is started, and "
        "bound every cache."
    ),
)

UNKNOWN_THREADS = Contract(
    id="resources/unknown-threads",
    statement=(
        "However often `get_tuple` and `list` are asked for threads that are not there, each time "
        "for another one, nothing of them stays in the process."
    ),
    # Advice: what a saver keeps for a thread may stay until the thread is deleted, and nobody
    # deletes what is not there. LangGraph's own InMemorySaver keeps an empty dictionary for each.
    level=Level.SHOULD,
    source=(
        "saverproof: ids of threads come from outside, from old links or from those who guess them"
    ),
    wrong="a lock for each thread that is asked for, removed when the thread is deleted",
    matters=(
        "Whoever may name a thread can fill the memory of the process, without any data of "
        "theirs in the store."
    ),
    fix=(
        "Keep nothing before a thread is known to be there: `dict.get` and not a `defaultdict`, "
        "and locks in a `WeakValueDictionary`."
    ),
)

TABLE = FamilyTable(
    name="resources",
    title="what a process holds for its saver",
    phase="resources",
    contracts=contracts_in(globals()),
)
