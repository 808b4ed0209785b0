"""Describes the steps of programs on graphs, one line each."""

from __future__ import annotations

from saverproof.families.graph import steps
from saverproof.programs.values import show


def describe(step: steps.GraphStep) -> str:
    """Describe a step in words."""
    text = _said(step)
    return text if step.thread == "a" else f"on thread {step.thread!r}: {text}"


def _said(step: steps.GraphStep) -> str:
    match step:
        case steps.Invoke():
            what = "go on" if step.given is None else f"invoke the graph with {show(step.given)}"
            return what + _from(step.at)
        case steps.Stream():
            what = (
                "go on, streaming"
                if step.given is None
                else f"stream the graph on {show(step.given)}"
            )
            inside = " of it and its subgraphs" if step.subgraphs else ""
            return f"{what}: {', '.join(step.modes)}{inside}"
        case steps.Answer():
            update = "" if step.update is None else f", with the update {show(step.update)}"
            return f"resume with {show(step.answer)}{update}{_from(step.at)}"
        case steps.AnswerEach():
            answers = ", ".join(f"{q!r} by {show(a)}" for q, a in step.answers.items())
            return f"resume, answering {answers}"
        case steps.Update():
            node = "" if step.as_node is None else f" as node {step.as_node!r}"
            return f"update the state with {show(step.values)}{node}{_from(step.at)}"
        case steps.UpdateInside():
            node = "" if step.as_node is None else f" as node {step.as_node!r}"
            return f"update the waiting subgraph's state with {show(step.values)}{node}"
        case steps.UpdateMany():
            return f"update the state in supersteps: {show(step.supersteps)}"
        case steps.Copy():
            return f"fork by a copy of checkpoint {step.at}"
        case steps.Look():
            return f"get the state at checkpoint {step.at}"
        case steps.History():
            parts = [] if step.limit is None else [f"at most {step.limit}"]
            parts += [] if step.before is None else [f"before checkpoint {step.before}"]
            parts += [] if step.source is None else [f"of source {step.source!r}"]
            return f"get the history{': ' if parts else ''}{', '.join(parts)}"
    raise TypeError(f"no words for a step of class {type(step).__name__}")


def _from(at: int | None) -> str:
    return "" if at is None else f", from checkpoint {at} (0 is the oldest)"
