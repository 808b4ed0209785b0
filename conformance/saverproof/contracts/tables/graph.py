"""Contracts on real LangGraph graphs that run on the saver."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract
from saverproof.contracts.family_table import FamilyTable, contracts_in

SAME_RUN = Contract(
    id="graph/same-run",
    statement=(
        "A graph gives the same values, history and pending work on this saver as on "
        "InMemorySaver: invoke, stream, interrupt and resume, update_state, time travel, fork, "
        "subgraphs, Send, retries and failed nodes, in each durability mode, sync and async."
    ),
    source="`langgraph.pregel.Pregel`; `langgraph.checkpoint.memory.InMemorySaver`",
    wrong="any flaw that only a run through LangGraph's loop brings out",
    matters=(
        "An agent that worked with the memory saver in development acts differently in production."
    ),
    fix=(
        "Mend the simpler contracts that are broken first; what is left shows the step at which "
        "the two runs part."
    ),
)

FUNCTIONAL_API = Contract(
    id="graph/functional-api",
    statement=(
        "Results of @task calls, `previous` and entrypoint.final survive an interrupt, and a "
        "task that is finished is not called again on resume."
    ),
    source="`langgraph.func.entrypoint`; `langgraph.func.task`",
    wrong="writes of a task are lost when its interrupt is stored under the same task id",
    matters=(
        "A @task that was done (a payment, an e-mail) is done a second time when the workflow is "
        "resumed."
    ),
    fix=(
        "Keep all writes of a task under their own index: interrupt and results share a task id "
        "and must not displace one another."
    ),
)

REPLAY_SUBGRAPH = Contract(
    id="graph/replay-subgraph",
    statement=(
        "Replaying a parent graph restores a subgraph from its newest checkpoint before the "
        "replay point."
    ),
    source="`langgraph._internal._replay.ReplayState.get_checkpoint`",
    wrong="`before` is ignored when its id belongs to another namespace",
    matters="Replaying from an earlier point runs subgraphs on a state from the future.",
    fix="Honour `before` in `list` by its id alone, whatever namespace that id is from.",
    needs=frozenset({Capability.HISTORY}),
)

TABLE = FamilyTable(
    name="graph",
    title="whole graphs run as they do in memory",
    phase="graph",
    long=True,
    contracts=contracts_in(globals()),
)
