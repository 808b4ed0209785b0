"""Scenarios: programs on a graph, each with the contract that it judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module

from saverproof.capability import Capability
from saverproof.contracts.tables import graph as contracts
from saverproof.families.graph import steps
from saverproof.families.graph.installed import DELTA, abilities
from saverproof.families.graph.runner import GraphMaker

_ALL = "saverproof.families.graph.definitions"
_WHERE: Mapping[str, str] = {
    name: f"{_ALL}.{module}"
    for module, names in {
        "linear": "sequence branches barrier fan_out cycle commanded empty_values stopping",
        "questions": "asking asking_on asking_abreast asking_many",
        "failures": "failing retried failing_beside",
        "nested": "nested nested_asking nested_deep nested_many remembering called_twice",
        "functions": "reviewed interview counting stumbling errands",
        "deltas": "delta delta_abreast",
        "pregel": "relayed",
    }.items()
    for name in names.split()
}
"""Graph -> module of its definition. A twin for the async API is called ``name_async``."""

GRAPHS = tuple(_WHERE)
"""The names of all graphs."""


def maker(graph: str, api: str) -> GraphMaker:
    """Return the function that makes the graph of this name for "sync" or "async" use.

    Raises:
        KeyError: there is no such graph.
    """
    module = import_module(_WHERE[graph])
    plain: GraphMaker = getattr(module, graph)
    twin: GraphMaker = getattr(module, f"{graph}_async", plain)
    return twin if api == "async" else plain


SAME = contracts.SAME_RUN.id
FUNCTIONAL = contracts.FUNCTIONAL_API.id
REPLAY = contracts.REPLAY_SUBGRAPH.id
ALL_MODES = ("sync", "async", "exit")


@dataclass(frozen=True, slots=True)
class GraphScenario:
    """A program on a graph, and the contract that it judges."""

    name: str
    contract: str
    graph: str
    program: steps.Program
    needs: frozenset[Capability] = frozenset()
    modes: tuple[str, ...] = ALL_MODES
    """The durability modes in which the outcome does not depend on luck."""
    wants: frozenset[str] = frozenset()
    """Abilities that the installed LangGraph must have (see ``installed.abilities``)."""

    @property
    def first_replay(self) -> int:
        """The position of the first step that runs the graph from an earlier checkpoint."""
        return next(
            (
                position
                for position, step in enumerate(self.program)
                if isinstance(step, steps.Invoke) and step.at is not None
            ),
            len(self.program),
        )

    def objection(self, capabilities: Collection[str]) -> str | None:
        """Return why this cannot be played on a saver with these capabilities, or None if it
        can.
        """
        for capability in sorted(self.needs):
            if capability not in capabilities:
                return f"the saver lacks {capability}"
        for wanted in sorted(self.wants):
            if wanted not in abilities():
                return f"the installed langgraph lacks {wanted}"
        return None


def planned(
    name: str,
    graph: str,
    *program: steps.GraphStep,
    contract: str = SAME,
    waits: bool = False,
    modes: tuple[str, ...] = ALL_MODES,
    wants: tuple[str, ...] = (),
) -> GraphScenario:
    """Return a scenario; ``waits`` says that the graph leaves work pending between two steps."""
    # A delta channel is rebuilt from the writes on older checkpoints.
    history = steps.needs_history(program) or contract == REPLAY or DELTA in wants
    needs = {Capability.HISTORY} if history else set()
    if waits:
        needs.add(Capability.EARLY_WRITES)
    return GraphScenario(name, contract, graph, program, frozenset(needs), modes, frozenset(wants))


def log(*lines: object) -> dict[str, object]:
    """Return an input or update for the graphs whose state has a log."""
    return {"log": list(lines)}
