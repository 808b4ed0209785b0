"""Scenarios of graphs inside graphs, delta channels, and the functional API."""

from __future__ import annotations

from saverproof.families.graph.installed import DELTA, SORTED_WRITES
from saverproof.families.graph.scenario import FUNCTIONAL, GraphScenario, log, planned
from saverproof.families.graph.steps import Answer, AnswerEach, Invoke, Stream, Update, UpdateInside

SCENARIOS: tuple[GraphScenario, ...] = (
    # --- graphs inside ----------------------------------------------------------------------
    planned("a graph inside", "nested", Invoke(log("in")), Invoke(log("again"))),
    planned("a graph inside, streamed", "nested", Stream(log("in"), ("updates",), subgraphs=True)),
    planned(
        "a question inside",
        "nested_asking",
        Invoke(log("in")),
        Answer("Ada"),
        Invoke(log("again")),
        Answer("Bob"),
        waits=True,
    ),
    planned(
        "an update inside",
        "nested_asking",
        Invoke(log("in")),
        UpdateInside({"own": "by hand"}),
        Answer("Ada"),
        waits=True,
    ),
    planned(
        "questions on two levels", "nested_deep", Invoke(log()), Answer(1), Answer(2), waits=True
    ),
    planned(
        "many graphs inside",
        "nested_many",
        Invoke({"parts": [0, 1, 2]}),
        AnswerEach({"part 102?": "C"}),
        AnswerEach({"part 100?": "A", "part 101?": "B"}),
        waits=True,
    ),
    planned(
        "a graph called twice", "called_twice", Invoke(log()), Answer(1), Answer(2), waits=True
    ),
    planned(
        "a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "other"}, thread="b"),
        Invoke({"turn": "two"}),
    ),
    # --- delta channels ---------------------------------------------------------------------
    planned(
        "a delta channel",
        "delta",
        Invoke(log("in")),
        Answer("Ada"),
        Invoke(log("again")),
        Answer("Bob"),
        waits=True,
        wants=(DELTA,),
    ),
    planned(
        "a delta channel, forked",
        "delta",
        Invoke(log("in")),
        Answer("Ada"),
        Update(log("by hand"), "first", at=2),
        Invoke(None),
        Answer("Bob"),
        waits=True,
        wants=(DELTA,),
    ),
    planned(
        "a delta channel written side by side",
        "delta_abreast",
        Invoke(log("in")),
        Invoke(log("again")),
        waits=True,
        wants=(DELTA, SORTED_WRITES),
    ),
    # --- functional API ---------------------------------------------------------------------
    planned(
        "previous and final",
        "counting",
        Invoke(1),
        Invoke(2),
        Invoke(3, thread="b"),
        Invoke(4),
        contract=FUNCTIONAL,
    ),
    planned(
        "previous across a question",
        "counting",
        Invoke(5),
        Invoke(-1),
        Answer("yes"),
        Invoke(2),
        contract=FUNCTIONAL,
        waits=True,
    ),
    planned("a review", "reviewed", Invoke(12), Answer(10), contract=FUNCTIONAL, waits=True),
    planned(
        "an interview",
        "interview",
        Invoke("title"),
        Answer("first"),
        Answer("second"),
        Answer("signed"),
        contract=FUNCTIONAL,
        waits=True,
    ),
    planned(
        "a failing task", "stumbling", Invoke(4), Invoke(None), contract=FUNCTIONAL, waits=True
    ),
)
