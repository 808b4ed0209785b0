"""Scenarios that go back in a thread's history, or change its state by hand."""

from __future__ import annotations

from saverproof.families.graph.installed import COPY_UPDATE
from saverproof.families.graph.scenario import REPLAY, GraphScenario, log, planned
from saverproof.families.graph.steps import Answer, Copy, History, Invoke, Look, Update, UpdateMany

SCENARIOS: tuple[GraphScenario, ...] = (
    # --- updates and forks ------------------------------------------------------------------
    planned(
        "updates",
        "sequence",
        Update(log("by hand"), "first"),
        Invoke(None),
        Update(log("afterwards"), "third"),
        Update({"count": 7}, "first"),
        Invoke(None),
    ),
    planned(
        "updates in bulk",
        "sequence",
        UpdateMany((((log("in"), "__input__"),), ((log("by hand"), "first"),))),
        Invoke(None),
        wants=(COPY_UPDATE,),
    ),
    planned(
        "an update instead of an answer",
        "asking",
        Invoke(log("in")),
        Update(log("nobody"), "ask"),
        Invoke(None),
        waits=True,
    ),
    planned(
        "histories",
        "sequence",
        Invoke(log("one")),
        Invoke(log("two")),
        History(limit=3),
        History(before=5, limit=2),
        History(source="input"),
        Look(2),
    ),
    planned(
        "time travel",
        "sequence",
        Invoke(log("one")),
        Invoke(log("two")),
        Invoke(None, at=2),
        Invoke(log("three"), at=4),
        Invoke(None, at=2),
        Invoke(log("four")),
    ),
    planned(
        "a fork",
        "branches",
        Invoke(log("in")),
        Update({"left": 5}, "left", at=1),
        Invoke(None),
        Update({"right": 50}, "far_right", at=2),
        Invoke(None),
    ),
    planned(
        "a fork by copy",
        "sequence",
        Invoke(log("one")),
        Copy(2),
        Invoke(None),
        Copy(0),
        wants=(COPY_UPDATE,),
    ),
    planned(
        "a question, gone back to",
        "asking",
        Invoke(log("in")),
        Answer("Ada"),
        Invoke(None, at=2),
        Answer("Bob"),
        Answer("Cleo", at=2),
        waits=True,
    ),
    # --- replays ----------------------------------------------------------------------------
    planned(
        "a replay with a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "two"}),
        Invoke(None, at=5),
        contract=REPLAY,
    ),
    planned(
        "a fork with a graph that remembers",
        "remembering",
        Invoke({"turn": "one"}),
        Invoke({"turn": "two"}),
        Update({"turn": "instead"}, "__start__", at=4),
        Invoke(None, at=8),
        contract=REPLAY,
    ),
    planned(
        "a replay with a question inside",
        "nested_asking",
        Invoke(log("in")),
        Answer("Ada"),
        Invoke(None, at=1),
        Answer("Bob"),
        contract=REPLAY,
        waits=True,
    ),
)
