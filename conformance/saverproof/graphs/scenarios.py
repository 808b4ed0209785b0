"""The programs that are played on the graphs, from simple to intricate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module

from saverproof.capability import Capability
from saverproof.graphs.installed import COPY_UPDATE, DELTA, SORTED_WRITES, abilities
from saverproof.graphs.player import Maker
from saverproof.graphs.steps import (
    Answer,
    AnswerEach,
    Copy,
    History,
    Invoke,
    Look,
    Program,
    Step,
    Stream,
    Update,
    UpdateInside,
    UpdateMany,
    needs_history,
)

_ALL = "saverproof.graphs.definitions"
_WHERE: Mapping[str, str] = {
    name: f"{_ALL}.{module}"
    for module, names in {
        "rows": "sequence branches barrier fan_out cycle commanded empty_values stopping",
        "questions": "asking asking_on asking_abreast asking_many",
        "failures": "failing retried failing_beside",
        "nested": "nested nested_asking nested_deep nested_many remembering called_twice",
        "functions": "reviewed interview counting stumbling errands",
        "deltas": "delta delta_abreast",
    }.items()
    for name in names.split()
}
"""Graph -> module of its definition. ``name_async`` is its twin for the async API, if it has one.
"""


def maker(graph: str, api: str) -> Maker:
    """The function that makes the graph of that name for "sync" or "async" use.

    Raises:
        KeyError: there is none.
    """
    module = import_module(_WHERE[graph])
    plain: Maker = getattr(module, graph)
    twin: Maker = getattr(module, f"{graph}_async", plain)
    return twin if api == "async" else plain


SAME, FUNCTIONAL, REPLAY = "graph/same-run", "graph/functional-api", "graph/replay-subgraph"
ALL_MODES = ("sync", "async", "exit")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A program on a graph, and the contract that it puts to the test."""

    name: str
    contract: str
    graph: str
    program: Program
    needs: frozenset[Capability] = frozenset()
    modes: tuple[str, ...] = ALL_MODES
    """The durability modes in which the outcome does not depend on luck."""
    wants: frozenset[str] = frozenset()
    """What the installed LangGraph must be able to do."""

    @property
    def first_replay(self) -> int:
        """The position of the first step that runs the graph from an earlier checkpoint."""
        return next(
            (
                position
                for position, step in enumerate(self.program)
                if isinstance(step, Invoke) and step.at is not None
            ),
            len(self.program),
        )

    def objection(self, capabilities: Collection[str]) -> str | None:
        """Why this cannot be played on a saver of these capabilities; None if it can."""
        for capability in sorted(self.needs):
            if capability not in capabilities:
                return f"the saver lacks {capability}"
        for wanted in sorted(self.wants):
            if wanted not in abilities():
                return f"the installed langgraph lacks {wanted}"
        return None


def _scenario(
    name: str,
    graph: str,
    *program: Step,
    contract: str = SAME,
    waits: bool = False,
    modes: tuple[str, ...] = ALL_MODES,
    wants: tuple[str, ...] = (),
) -> Scenario:
    """``waits`` says that the graph leaves work pending between two steps."""
    needs = {Capability.HISTORY} if needs_history(program) or contract == REPLAY else set()
    if waits:
        needs.add(Capability.EARLY_WRITES)
    return Scenario(name, contract, graph, program, frozenset(needs), modes, frozenset(wants))


def _log(*lines: object) -> dict[str, object]:
    return {"log": list(lines)}


SCENARIOS: tuple[Scenario, ...] = (
    # --- runs ----------------------------------------------------------------------------------
    _scenario("two turns", "sequence", Invoke(_log("one")), Invoke(_log("two"))),
    _scenario(
        "two threads in turns",
        "sequence",
        Invoke(_log("one")),
        Invoke(_log("other"), thread="b"),
        Invoke(_log("two")),
        Invoke(_log("another"), thread="b"),
    ),
    _scenario("branches that join", "branches", Invoke(_log("in")), Invoke(_log("again"))),
    _scenario(
        "a barrier", "barrier", Invoke(_log("in")), Invoke(_log("again")), modes=("sync", "exit")
    ),
    _scenario("values easily taken for nothing", "empty_values", Invoke({"text": "in"})),
    _scenario("a loop", "cycle", Invoke({"left": 12})),
    _scenario("commands that lead on", "commanded", Invoke(_log("in")), Invoke(_log("x", "y"))),
    _scenario("fan-out", "fan_out", Invoke({"parts": list(range(12))})),
    _scenario(
        "streams",
        "sequence",
        Stream(_log("one"), ("values",)),
        Stream(_log("two"), ("updates", "values")),
        Stream(_log("three"), ("tasks",)),
    ),
    # --- questions -----------------------------------------------------------------------------
    _scenario("a question", "asking", Invoke(_log("in")), Answer("Ada"), waits=True),
    _scenario(
        "a question asked again, then answered with an update",
        "asking",
        Invoke(_log("in")),
        Invoke(None),
        Answer("Ada", {"tone": "glad"}),
        waits=True,
    ),
    _scenario(
        "a question left unanswered",
        "asking",
        Invoke(_log("in")),
        Invoke(_log("something else")),
        Answer("Ada"),
        waits=True,
    ),
    _scenario(
        "questions on two threads",
        "asking",
        Invoke(_log("in")),
        Invoke(_log("in"), thread="b"),
        Answer("Bob", thread="b"),
        Answer("Ada"),
        waits=True,
    ),
    _scenario(
        "three questions of one node",
        "asking_on",
        Invoke(_log("in")),
        Answer("one"),
        Answer(0),
        Answer({"three": 3}),
        waits=True,
    ),
    _scenario(
        "questions side by side",
        "asking_abreast",
        Invoke(_log("in")),
        AnswerEach({"left?": "L", "right?": "R"}),
        waits=True,
    ),
    _scenario(
        "questions side by side, answered one by one",
        "asking_abreast",
        Invoke(_log("in")),
        AnswerEach({"right?": "R"}),
        Answer("L"),
        waits=True,
    ),
    _scenario(
        "questions of many",
        "asking_many",
        Invoke({"parts": list(range(6))}),
        AnswerEach({"part 3?": "three", "part 1?": "one"}),
        AnswerEach({"part 5?": "five"}),
        waits=True,
    ),
    _scenario(
        "a streamed question",
        "asking",
        Stream(_log("in"), ("updates", "values")),
        Answer("Ada"),
        waits=True,
    ),
    _scenario(
        "breakpoints",
        "stopping",
        Invoke(_log("in")),
        Update({"said": "by hand"}, "first"),
        Invoke(None),
        Invoke(None),
    ),
    # --- failures ------------------------------------------------------------------------------
    _scenario("a failure", "failing", Invoke(_log("in")), Invoke(None), waits=True),
    _scenario("retries", "retried", Invoke(_log("in")), Invoke(_log("again"))),
    _scenario(
        "a failure beside a success",
        "failing_beside",
        Stream(_log("in"), ("updates", "custom")),
        Invoke(None),
        waits=True,
    ),
    # --- updates and forks ---------------------------------------------------------------------
    _scenario(
        "updates",
        "sequence",
        Update(_log("by hand"), "first"),
        Invoke(None),
        Update(_log("afterwards"), "third"),
        Update({"count": 7}, "first"),
        Invoke(None),
    ),
    _scenario(
        "updates in bulk",
        "sequence",
        UpdateMany((((_log("in"), "__input__"),), ((_log("by hand"), "first"),))),
        Invoke(None),
        wants=(COPY_UPDATE,),
    ),
    _scenario(
        "an update instead of an answer",
        "asking",
        Invoke(_log("in")),
        Update(_log("nobody"), "ask"),
        Invoke(None),
        waits=True,
    ),
    _scenario(
        "histories",
        "sequence",
        Invoke(_log("one")),
        Invoke(_log("two")),
        History(limit=3),
        History(before=5, limit=2),
        History(source="input"),
        Look(2),
    ),
    _scenario(
        "time travel",
        "sequence",
        Invoke(_log("one")),
        Invoke(_log("two")),
        Invoke(None, at=2),
        Invoke(_log("three"), at=4),
        Invoke(None, at=2),
        Invoke(_log("four")),
    ),
    _scenario(
        "a fork",
        "branches",
        Invoke(_log("in")),
        Update({"left": 5}, "left", at=1),
        Invoke(None),
        Update({"right": 50}, "far_right", at=2),
        Invoke(None),
    ),
    _scenario(
        "a fork by copy",
        "sequence",
        Invoke(_log("one")),
        Copy(2),
        Invoke(None),
        Copy(0),
        wants=(COPY_UPDATE,),
    ),
    _scenario(
        "a question, gone back to",
        "asking",
        Invoke(_log("in")),
        Answer("Ada"),
        Invoke(None, at=2),
        Answer("Bob"),
        Answer("Cleo", at=2),
        waits=True,
    ),
    # --- graphs inside -------------------------------------------------------------------------
    _scenario("a graph inside", "nested", Invoke(_log("in")), Invoke(_log("again"))),
    _scenario(
        "a graph inside, streamed", "nested", Stream(_log("in"), ("updates",), subgraphs=True)
    ),
    _scenario(
        "a question inside",
        "nested_asking",
        Invoke(_log("in")),
        Answer("Ada"),
        Invoke(_log("again")),
        Answer("Bob"),
        waits=True,
    ),
    _scenario(
        "an update inside",
        "nested_asking",
        Invoke(_log("in")),
        UpdateInside({"own": "by hand"}),
        Answer("Ada"),
        waits=True,
    ),
    _scenario(
        "questions on two levels", "nested_deep", Invoke(_log()), Answer(1), Answer(2), waits=True
    ),
    _scenario(
        "many graphs inside",
        "nested_many",
        Invoke({"parts": [0, 1, 2]}),
        AnswerEach({"part 102?": "C"}),
        AnswerEach({"part 100?": "A", "part 101?": "B"}),
        waits=True,
    ),
    _scenario(
        "a graph called twice", "called_twice", Invoke(_log()), Answer(1), Answer(2), waits=True
    ),
    _scenario(
        "a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "other"}, thread="b"),
        Invoke({"turn": "two"}),
    ),
    # --- delta channels ------------------------------------------------------------------------
    _scenario(
        "a delta channel",
        "delta",
        Invoke(_log("in")),
        Answer("Ada"),
        Invoke(_log("again")),
        Answer("Bob"),
        waits=True,
        wants=(DELTA,),
    ),
    _scenario(
        "a delta channel, forked",
        "delta",
        Invoke(_log("in")),
        Answer("Ada"),
        Update(_log("by hand"), "first", at=2),
        Invoke(None),
        Answer("Bob"),
        waits=True,
        wants=(DELTA,),
    ),
    _scenario(
        "a delta channel written side by side",
        "delta_abreast",
        Invoke(_log("in")),
        Invoke(_log("again")),
        waits=True,
        wants=(DELTA, SORTED_WRITES),
    ),
    # --- functional API ------------------------------------------------------------------------
    _scenario(
        "previous and final",
        "counting",
        Invoke(1),
        Invoke(2),
        Invoke(3, thread="b"),
        Invoke(4),
        contract=FUNCTIONAL,
    ),
    _scenario(
        "previous across a question",
        "counting",
        Invoke(5),
        Invoke(-1),
        Answer("yes"),
        Invoke(2),
        contract=FUNCTIONAL,
        waits=True,
    ),
    _scenario("a review", "reviewed", Invoke(12), Answer(10), contract=FUNCTIONAL, waits=True),
    _scenario(
        "an interview",
        "interview",
        Invoke("title"),
        Answer("first"),
        Answer("second"),
        Answer("signed"),
        contract=FUNCTIONAL,
        waits=True,
    ),
    _scenario(
        "a failing task", "stumbling", Invoke(4), Invoke(None), contract=FUNCTIONAL, waits=True
    ),
    # --- replays -------------------------------------------------------------------------------
    _scenario(
        "a replay with a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "two"}),
        Invoke(None, at=5),
        contract=REPLAY,
    ),
    _scenario(
        "a fork with a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "two"}),
        Update({"turn": "instead"}, "__start__", at=4),
        Invoke(None, at=8),
        contract=REPLAY,
    ),
    _scenario(
        "a replay with a question inside",
        "nested_asking",
        Invoke(_log("in")),
        Answer("Ada"),
        Invoke(None, at=1),
        Answer("Bob"),
        contract=REPLAY,
        waits=True,
    ),
)
"""Every scenario, in the order in which they are played."""


def scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        KeyError: there is none.
    """
    return {one.name: one for one in SCENARIOS}[name]
