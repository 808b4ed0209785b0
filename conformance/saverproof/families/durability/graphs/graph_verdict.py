"""Compares a graph that was killed and resumed with a run without a kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from saverproof.families.durability.graphs.graph_log import WRITES, GraphCall
from saverproof.families.graph.installed import DELTA
from saverproof.families.graph.runner import RESULT
from saverproof.families.graph.scenarios import GraphScenario
from saverproof_faults.kill import View

SHARES = {
    "fan-out": 5,
    "branches that join": 3,
    "channels that keep their values": 2,
    "a question": 1,
    "two turns": 1,
    "a graph inside": 1,
    "retries": 1,
    "a question inside": 1,
    "updates": 1,
    "a delta channel": 1,
    "a fork": 1,
}
"""The share of kills of each scenario: scenarios of the graph family on one thread, whose nodes can
be executed again. Scenarios with nodes side by side get more, since some nodes may be done when
others are not.
"""
_SPECIAL = {"__interrupt__", "__error__", "__resume__", "__scheduled__"}


def raised(seen: Mapping[str, str]) -> bool:
    """Return whether the last call of a graph raised."""
    return seen.get(RESULT, "").startswith('{"raised"')


def resumable(scenario: GraphScenario, mode: str) -> bool:
    """Return whether LangGraph lets a run of a scenario in a durability mode be killed at any
    moment.

    In mode "exit" it does not if the graph has a delta channel. At the end of such a run, the
    writes to the channel are put on a stub of a checkpoint if there is no other one, and the real
    checkpoint comes after that (``langgraph.pregel._loop.PregelLoop._put_exit_delta_writes``). A
    kill between the two leaves an acknowledged checkpoint from which no run can go on.
    """
    return mode != "exit" or DELTA not in scenario.wants


@dataclass(frozen=True, slots=True)
class Show:
    """A scenario in one durability mode, with the results of a run without a kill.

    ``nodes`` are all its node executions, ``places`` the number of moments before and after its
    operations.
    """

    scenario: GraphScenario
    mode: str
    seen: dict[str, str]
    nodes: Counter[str]
    places: int

    @property
    def share(self) -> int:
        """The number of kills for this scenario, relative to the others."""
        return SHARES[self.scenario.name] if self.mode == "sync" else 1


@dataclass(frozen=True, slots=True)
class Resumed:
    """A graph that was killed at the ``place``-th moment of its run, and resumed."""

    show: Show
    place: int
    operations: tuple[GraphCall, ...]
    again: tuple[GraphCall, ...]
    acknowledged: frozenset[int]
    nodes: Counter[str]
    view: View

    @property
    def where(self) -> str:
        """The place of the kill in words."""
        flying = [o.describe() for o in self.operations if o.number not in self.acknowledged]
        if flying:
            return f"during {' and '.join(flying)}"
        return f"after {len(self.operations)} operations"

    @property
    def finished(self) -> bool:
        """True if the resumed graph ran to its end, with a right or a wrong result."""
        return self.view.value is not None and not raised(self.view.value["seen"])

    def difference(self) -> tuple[str, str, str] | None:
        """Return the first difference from the run without a kill: what differs, the expected and
        the observed value.
        """
        if self.view.value is None:
            return "resuming", "the graph runs to its end", self.view.ending()
        seen = self.view.value["seen"]
        for kind, expected in self.show.seen.items():
            if seen.get(kind) != expected:
                return kind, expected, str(seen.get(kind))
        return None

    def rerun(self) -> GraphCall | None:
        """Return the first write of a task that was finished before the kill, and ran again. Return
        None if there is none.

        A task was finished if its writes and the put of its checkpoint were acknowledged. A task
        with a graph inside, or one that was interrupted or failed, does not count.
        """
        if self.nodes.total() <= self.show.nodes.total():
            return None
        done = [o for o in self.operations if o.number in self.acknowledged]
        stored = {o.at for o in done if o.method != WRITES}
        inside = {o.namespace for o in (*self.operations, *self.again)}
        unfinished = {
            (o.at, o.task)
            for o in self.operations
            if o.method == WRITES and (not o.channels or _SPECIAL & {*o.channels})
        }
        finished = {
            (o.at, o.task) for o in done if o.method == WRITES and o.at in stored and o.path
        }
        finished -= unfinished
        return next(
            (
                o
                for o in self.again
                if o.method == WRITES
                and (o.at, o.task) in finished
                and not any(o.task in namespace for namespace in inside)
            ),
            None,
        )
