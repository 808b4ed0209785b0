"""Has a graph stop under one release, and go on under another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saverproof.families.upgrade import graphs
from saverproof.families.upgrade.first_read import NotToBeSeen
from saverproof.families.upgrade.release_process import ReleaseRaised, where
from saverproof.families.upgrade.release_program import text_of
from saverproof.families.upgrade.trials import NOTHING, ReleaseBench, Which
from saverproof.savers.workspace import Workspace

OWN_TROUBLE = "goes otherwise where {} plays both parts: {}"
LANGGRAPHS_OWN = (
    "goes otherwise in LangGraph itself, with a saver that only keeps what it is given: {}"
)
NOT_KILLED = "never comes to where its process is killed, with all before it stored"
RAISED = "an exception"


@dataclass(frozen=True, slots=True)
class StoppedGraph:
    """A graph that stops in the middle, and what is shown when it goes on.

    ``words`` say where it stops. ``waits_for`` are its questions at that moment, and ``notes`` is
    what an uninterrupted run leaves. ``began`` says how often the node at which it stops begins,
    and ``rounds`` how often each other node does.
    """

    kind: str
    words: str
    waits_for: tuple[str, ...]
    notes: tuple[str, ...]
    began: int = 3
    rounds: int = 2
    inner: tuple[str, ...] = ()
    is_killed: bool = False

    @property
    def expected(self) -> dict[str, str]:
        """The facts that must be shown when the graph goes on, as texts by names."""
        others = dict.fromkeys(("plan", "tidy", "finish", *self.inner), self.rounds)
        shown: Mapping[str, Any] = {
            "what it waits for": [*self.waits_for],
            "nodes that are next": ["stop"],
            "its notes at the end": [*self.notes],
            "nodes that are left": [],
            "how often each node began": {**others, "stop": self.began},
        }
        return {name: text_of(value) for name, value in shown.items()}


_AGAIN = ("plan", "stop", "tidy", "finish")
"""The notes of a round in which two nodes run at once: they are in the order of their names."""
_IN_LINE = ("plan", "tidy", "stop", "finish")
_ONE, _TWO = "question 1", "question 2"
STOPPED: Mapping[str, StoppedGraph] = {
    graph.kind: graph
    for graph in (
        StoppedGraph(
            *("asked", "at a question, beside a node that is done", (_ONE,)),
            ("begin", "plan", "stop answer 1", "tidy", "finish", *_AGAIN),
        ),
        StoppedGraph(
            *("asked-often", "at the second of a node's three questions", (_TWO,)),
            ("begin", "plan", "stop answer 1 answer 2 answer 3", "tidy", "finish", *_AGAIN),
            began=5,
        ),
        StoppedGraph(
            *("subgraph", "at a question in a subgraph", (_ONE,)),
            # A subgraph gives back all the notes that it was given, and its own.
            ("begin", "plan", "begin", "plan", "prepare", "stop answer 1", "tidy", "finish"),
            began=2,
            rounds=1,
            inner=("prepare",),
        ),
        StoppedGraph(
            *("failed", "at a node that fails", ()),
            ("begin", *_IN_LINE, *_IN_LINE),
        ),
        StoppedGraph(
            *("killed", "between two steps, by a kill of its process", ()),
            ("begin", *_IN_LINE, *_IN_LINE),
            is_killed=True,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class OtherwiseResumed:
    """The first thing that differs when a graph goes on."""

    what: str
    expected: str
    observed: str

    def __str__(self) -> str:
        return f"{self.what}: {self.observed}"


def resumed(bench: ReleaseBench, graph: StoppedGraph) -> OtherwiseResumed | None:
    """Return the first thing that differs when the new release goes on with a graph of the old one.

    Raises:
        NotToBeSeen: something differs even where one of the releases plays both parts, or with the
            plain saver.
    """
    for role, expected in _expected_alone(bench, graph).items():
        if own := _otherwise(bench, graph, (role, role), expected):
            release = bench.players[role].release
            raise NotToBeSeen(OWN_TROUBLE.format(release, own))
    return _otherwise(bench, graph, (Which.OLD, Which.NEW), graph.expected)


def _expected_alone(bench: ReleaseBench, graph: StoppedGraph) -> Mapping[Which, Mapping[str, str]]:
    """Return what is shown where a release plays both parts. An older LangGraph may tell the state
    of a graph in another way, which the plain saver shows.

    Raises:
        NotToBeSeen: the plain saver's graph does not go on rightly.
    """
    expected = dict.fromkeys(Which, graph.expected)
    if bench.plain is None:
        return expected
    if otherwise := _otherwise(bench.plain, graph, (Which.OLD, Which.NEW), graph.expected):
        raise NotToBeSeen(LANGGRAPHS_OWN.format(otherwise))
    try:
        shown = _shown(bench.plain, graph, Which.OLD, Which.OLD)
    except ReleaseRaised as refusal:
        raise NotToBeSeen(LANGGRAPHS_OWN.format(refusal)) from refusal
    return expected | {Which.OLD: shown}


def _otherwise(
    bench: ReleaseBench,
    graph: StoppedGraph,
    roles: tuple[Which, Which],
    expected: Mapping[str, str],
) -> OtherwiseResumed | None:
    """Return the first thing that differs when the two parts are played by these releases."""
    try:
        shown = _shown(bench, graph, *roles)
    except ReleaseRaised as refusal:
        return OtherwiseResumed(RAISED, "none", str(refusal))
    for what, wanted in expected.items():
        observed = shown.get(what, NOTHING)
        if observed != wanted:
            return OtherwiseResumed(what, wanted, observed)
    return None


def _shown(
    bench: ReleaseBench, graph: StoppedGraph, first: Which, second: Which
) -> Mapping[str, str]:
    text = Path(graphs.__file__).read_text(encoding="utf-8")
    with bench.store() as at:
        # Beside the store: a saver may look at all files of its folder.
        log = at.path.with_name(f"{at.path.name}.log")
        given = {"text": text, "kind": graph.kind, "log": str(log)}
        try:
            _stop(bench, graph, first, at, given)
            with bench.opened((second,), at) as name:
                shown: Mapping[str, str] = bench.players[second].ask(
                    "graph", name=name, part="after", **given
                )
        finally:
            log.unlink(missing_ok=True)
    return shown


def _stop(
    bench: ReleaseBench,
    graph: StoppedGraph,
    role: Which,
    at: Workspace,
    given: Mapping[str, str],
) -> None:
    """Play the first part.

    Raises:
        NotToBeSeen: the graph did not come to the place where it stops, so that nothing can be said
            about going on.
    """
    player = bench.players[role]
    try:
        if graph.is_killed:
            if not player.ask("killed_graph", **where(bench.opening, at), **given):
                raise NotToBeSeen(NOT_KILLED)
            return
        with bench.opened((role,), at) as name:
            player.ask("graph", name=name, part="before", **given)
    except ReleaseRaised as refusal:
        raise NotToBeSeen(OWN_TROUBLE.format(player.release, refusal)) from refusal
