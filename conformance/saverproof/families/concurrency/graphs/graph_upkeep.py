"""The operations that are called beside graphs, on the graphs' own threads or on others, as
data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.contract_ids import COPY, DELETION, PRUNE
from saverproof.families.graph import scenarios
from saverproof.families.graph.runner import Player
from saverproof.families.graph.scenario import GraphScenario, log, planned
from saverproof.families.graph.steps import Answer, Invoke

THREAD = "a"
"""The thread of the graphs."""
FIRST_OF_NEW = 1
"""The number of the step that begins a new run, in scenarios where runs matter."""
_OLD, _NEW = "a run that is over", "a run that goes on"

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""A method's name with its positional arguments, and its keyword arguments."""


@dataclass(frozen=True, slots=True)
class GraphUpkeep:
    """One operation that is called beside graphs.

    ``doing`` says in words what the operation does. ``names`` are the scenarios beside which it is
    called. It is held at up to ``most`` places; the profile decides how many if that is None.
    ``elsewhere`` says that another process calls it.
    """

    kind: OperationKind
    contract: str
    needs: frozenset[Capability]
    doing: str
    names: tuple[str, ...]
    most: int | None = None
    elsewhere: bool = False

    def by_another(self) -> GraphUpkeep:
        """Return the same operation, called by another process and beside fewer graphs. Few
        suffice, since only the holder of the lock is another one.
        """
        doing = f"{self.doing} by another process"
        return replace(self, doing=doing, names=self.names[:2], elsewhere=True)

    @property
    def scene(self) -> str:
        """The name of the scene."""
        return f"graphs beside a {self.doing}"

    def steps(self, one: GraphScenario, *, inside: bool) -> range:
        """Return the steps of a program beside which the operation is called: ``inside`` a step, or
        before it.
        """
        end = len(one.program)
        match self.kind:
            case OperationKind.DELETE_RUN:
                # The old run has ended, and the new one has put what it goes on with.
                return range(FIRST_OF_NEW + 1, end)
            case OperationKind.COPY if not inside:
                # Before the first step there is nothing to copy.
                return range(1, end)
            case _:
                return range(end)

    def run_of(self, position: int) -> str:
        """Return the name of the run that a step belongs to; "" where runs do not matter."""
        if self.kind is not OperationKind.DELETE_RUN:
            return ""
        return _OLD if position < FIRST_OF_NEW else _NEW

    def call(self, own: str, other: str) -> Call:
        """Return the call of the operation, given the graph's own thread and the other thread,
        which is deleted or copied to.
        """
        match self.kind:
            case OperationKind.COPY:
                return ("copy_thread", own, other), {}
            case OperationKind.DELETE:
                return ("delete_thread", other), {}
            case OperationKind.DELETE_RUN:
                return ("delete_for_runs", [_OLD]), {}
            case _:
                return ("prune", [own]), {"strategy": "keep_latest"}


QUESTIONS = "three questions of one node"
INSIDE = "a question inside"
ABREAST = "questions side by side, answered one by one"
NAMES = (QUESTIONS, INSIDE, ABREAST)
"""Names of scenarios in which a graph waits for an answer: in the root, in a subgraph, or in
several tasks.
"""
DELTA = "a delta channel"
"""The name of a scenario with a delta channel, for which a prune has to keep older checkpoints as
well.
"""

_TWO_RUNS = planned(
    "two runs that ask twice",
    "nested_deep",
    *(Invoke(log()), Invoke(log()), Answer(1), Answer(2)),
    waits=True,
)
"""A scenario: nobody answers the first run; the second run asks, gets an answer, and asks again."""

_ALL = (
    GraphUpkeep(
        OperationKind.PRUNE, PRUNE, frozenset({Capability.PRUNE}), "prune", (*NAMES, DELTA)
    ),
    GraphUpkeep(OperationKind.COPY, COPY, frozenset({Capability.COPY_THREAD}), "copy", NAMES[:2]),
    # Which rows are wrongly touched depends little on the graph.
    GraphUpkeep(
        OperationKind.DELETE,
        DELETION,
        frozenset({Capability.DELETE_THREAD}),
        "deletion of another thread",
        ("a question",),
        3,
    ),
    GraphUpkeep(
        OperationKind.DELETE_RUN,
        DELETION,
        frozenset({Capability.DELETE_FOR_RUNS}),
        "deletion of another run",
        (_TWO_RUNS.name,),
        3,
    ),
)
UPKEEP_OF_GRAPHS: Mapping[OperationKind, GraphUpkeep] = {one.kind: one for one in _ALL}


def scenario(name: str) -> GraphScenario:
    """Return the scenario of this name."""
    return _TWO_RUNS if name == _TWO_RUNS.name else scenarios.scenario(name)


class RunningPlayer(Player):
    """A player that names the run of each step in the metadata."""

    run = ""

    def _config(self, thread: str, at: int | None = None) -> dict[str, Any]:
        config = super()._config(thread, at)
        return {**config, "metadata": {"run_id": self.run}} if self.run else config
