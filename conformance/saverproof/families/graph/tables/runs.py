"""Scenarios of graphs without subgraphs: plain runs, questions, failures."""

from __future__ import annotations

from saverproof.families.graph.scenario import GraphScenario, log, planned
from saverproof.families.graph.steps import Answer, AnswerEach, Invoke, Stream, Update

SCENARIOS: tuple[GraphScenario, ...] = (
    # --- runs -------------------------------------------------------------------------------
    planned("two turns", "sequence", Invoke(log("one")), Invoke(log("two"))),
    planned(
        "two threads in turns",
        "sequence",
        Invoke(log("one")),
        Invoke(log("other"), thread="b"),
        Invoke(log("two")),
        Invoke(log("another"), thread="b"),
    ),
    planned("branches that join", "branches", Invoke(log("in")), Invoke(log("again"))),
    planned(
        "a barrier", "barrier", Invoke(log("in")), Invoke(log("again")), modes=("sync", "exit")
    ),
    planned("values easily taken for nothing", "empty_values", Invoke({"text": "in"})),
    planned("a loop", "cycle", Invoke({"left": 12})),
    planned("commands that lead on", "commanded", Invoke(log("in")), Invoke(log("x", "y"))),
    planned(
        "channels that keep their values",
        "relayed",
        Invoke({"given": "in"}),
        Invoke({"given": "again"}),
    ),
    planned("fan-out", "fan_out", Invoke({"parts": list(range(12))})),
    planned(
        "streams",
        "sequence",
        Stream(log("one"), ("values",)),
        Stream(log("two"), ("updates", "values")),
        Stream(log("three"), ("tasks",)),
    ),
    # --- questions --------------------------------------------------------------------------
    planned("a question", "asking", Invoke(log("in")), Answer("Ada"), waits=True),
    planned(
        "a question asked again, then answered with an update",
        "asking",
        Invoke(log("in")),
        Invoke(None),
        Answer("Ada", {"tone": "glad"}),
        waits=True,
    ),
    planned(
        "a question left unanswered",
        "asking",
        Invoke(log("in")),
        Invoke(log("something else")),
        Answer("Ada"),
        waits=True,
    ),
    planned(
        "questions on two threads",
        "asking",
        Invoke(log("in")),
        Invoke(log("in"), thread="b"),
        Answer("Bob", thread="b"),
        Answer("Ada"),
        waits=True,
    ),
    planned(
        "three questions of one node",
        "asking_on",
        Invoke(log("in")),
        Answer("one"),
        Answer(0),
        Answer({"three": 3}),
        waits=True,
    ),
    planned(
        "questions side by side",
        "asking_abreast",
        Invoke(log("in")),
        AnswerEach({"left?": "L", "right?": "R"}),
        waits=True,
    ),
    planned(
        "questions side by side, answered one by one",
        "asking_abreast",
        Invoke(log("in")),
        AnswerEach({"right?": "R"}),
        Answer("L"),
        waits=True,
    ),
    planned(
        "questions of many",
        "asking_many",
        Invoke({"parts": list(range(6))}),
        AnswerEach({"part 3?": "three", "part 1?": "one"}),
        AnswerEach({"part 5?": "five"}),
        waits=True,
    ),
    planned(
        "a streamed question",
        "asking",
        Stream(log("in"), ("updates", "values")),
        Answer("Ada"),
        waits=True,
    ),
    planned(
        "breakpoints",
        "stopping",
        Invoke(log("in")),
        Update({"said": "by hand"}, "first"),
        Invoke(None),
        Invoke(None),
    ),
    # --- failures ---------------------------------------------------------------------------
    planned("a failure", "failing", Invoke(log("in")), Invoke(None), waits=True),
    planned("retries", "retried", Invoke(log("in")), Invoke(log("again"))),
    planned(
        "a failure beside a success",
        "failing_beside",
        Stream(log("in"), ("updates", "custom")),
        Invoke(None),
        waits=True,
    ),
)
