"""Contracts on what a process holds for its saver."""

from __future__ import annotations

from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

FLAT = Contract(
    id="resources/flat",
    statement=(
        "However often operations are called, raise, are cancelled or left half-way, and however "
        "often the saver is opened and closed, nothing stays for it: descriptors, threads, tasks, "
        "connections, temporary files, objects and memory are what they were after the first few."
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

TABLE = FamilyTable(
    name="resources",
    title="what a process holds for its saver",
    phase="resources",
    contracts=contracts_in(globals()),
)
