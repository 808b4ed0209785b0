"""A graph that was killed and resumed: what it should have come to, and what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from saverproof.families.durability.graph_log import WRITES, GraphCall
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
"""Scenarios of the graph family on one thread, whose nodes can be executed again, and how many
of the kills each gets: where nodes work side by side, some are finished when others are not.
"""
_SPECIAL = {"__interrupt__", "__error__", "__resume__", "__scheduled__"}


def raised(seen: Mapping[str, str]) -> bool:
    """Return whether the last call of a graph raised."""
    return seen.get(RESULT, "").startswith('{"raised"')


def resumable(scenario: GraphScenario, mode: str) -> bool:
    """Return whether LangGraph lets a run of a scenario in a durability mode be killed at any
    moment.

    At the end of a run in mode "exit", what was written to a delta channel is put on the stub of a
    checkpoint, if there is no other, and the real one after it
    (``langgraph.pregel._loop.PregelLoop._put_exit_delta_writes``): a kill between them leaves an
    acknowledged checkpoint from which nobody can go on.
    """
    return mode != "exit" or DELTA not in scenario.wants


@dataclass(frozen=True, slots=True)
class Show:
    """A scenario in one durability mode, with what an undisturbed run comes to.

    ``nodes`` are all node executions of it, ``places`` the moments before and after its operations.
    """

    scenario: GraphScenario
    mode: str
    seen: dict[str, str]
    nodes: Counter[str]
    places: int

    @property
    def share(self) -> int:
        """How many of the kills it gets, in proportion."""
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
        """Whether the graph ran to its end when it was resumed, whatever came of it."""
        return self.view.value is not None and not raised(self.view.value["seen"])

    def difference(self) -> tuple[str, str, str] | None:
        """Return what is not as in the undisturbed run: which, expected, observed."""
        if self.view.value is None:
            return "resuming", "the graph runs to its end", self.view.ending()
        seen = self.view.value["seen"]
        for kind, expected in self.show.seen.items():
            if seen.get(kind) != expected:
                return kind, expected, str(seen.get(kind))
        return None

    def rerun(self) -> GraphCall | None:
        """The first write of a task that was finished for good before, if a node ran again.

        Its writes were acknowledged, and the put of its checkpoint too. A task that has a graph
        inside, or was interrupted or failed, does not count.
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
