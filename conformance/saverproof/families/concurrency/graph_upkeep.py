"""What is called beside graphs, on their threads or on others: as data, and how it is prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.contract_ids import COPY, DELETION, PRUNE
from saverproof.families.concurrency.records import OperationKind
from saverproof.families.graph import scenarios
from saverproof.families.graph.runner import Player
from saverproof.families.graph.scenario import GraphScenario, log, planned
from saverproof.families.graph.steps import Answer, Invoke

THREAD = "a"
"""The thread of the graphs."""
FIRST_OF_NEW = 1
"""The step that begins a new run, where runs matter."""
_OLD, _NEW = "a run that is over", "a run that goes on"

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The name of a method and its arguments, and those that are named."""


@dataclass(frozen=True, slots=True)
class GraphUpkeep:
    """One operation beside graphs.

    ``doing`` is what it does, in words. ``names`` are the scenarios beside which it is called; it
    is held at up to ``most`` places, or at as many as a profile says. ``elsewhere`` says that
    another process calls it.
    """

    kind: OperationKind
    contract: str
    needs: frozenset[Capability]
    doing: str
    names: tuple[str, ...]
    most: int | None = None
    elsewhere: bool = False

    def by_another(self) -> GraphUpkeep:
        """The same by another process, beside fewer graphs: what differs is who has a lock."""
        doing = f"{self.doing} by another process"
        return replace(self, doing=doing, names=self.names[:2], elsewhere=True)

    @property
    def scene(self) -> str:
        """The name of the scene."""
        return f"graphs beside a {self.doing}"

    def steps(self, one: GraphScenario, *, inside: bool) -> range:
        """The steps of a program beside which it is called, from ``inside`` them or before."""
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
        """The run of a step; "" where runs do not matter."""
        if self.kind is not OperationKind.DELETE_RUN:
            return ""
        return _OLD if position < FIRST_OF_NEW else _NEW

    def call(self, own: str, other: str) -> Call:
        """The call for a graph's own thread, and another that it is deleted from or copied to."""
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
"""Scenarios in which graphs wait for someone, in the root and in a subgraph, and for several."""
DELTA = "a delta channel"
"""What a prune keeps is not only the newest there."""

_TWO_RUNS = planned(
    "two runs that ask twice",
    "nested_deep",
    *(Invoke(log()), Invoke(log()), Answer(1), Answer(2)),
    waits=True,
)
"""Nobody answers the first run; the second asks, is answered and asks again."""

_ALL = (
    GraphUpkeep(
        OperationKind.PRUNE, PRUNE, frozenset({Capability.PRUNE}), "prune", (*NAMES, DELTA)
    ),
    GraphUpkeep(OperationKind.COPY, COPY, frozenset({Capability.COPY_THREAD}), "copy", NAMES[:2]),
    # Whose rows are touched that should not be hangs little on what the graph is.
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
    """A player whose steps are each of a run, as the metadata says."""

    run = ""

    def _config(self, thread: str, at: int | None = None) -> dict[str, Any]:
        config = super()._config(thread, at)
        return {**config, "metadata": {"run_id": self.run}} if self.run else config
