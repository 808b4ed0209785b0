"""Programs in words, a line a step."""

from __future__ import annotations

from functools import singledispatch

from saverproof.families.graph.steps import (
    Answer,
    AnswerEach,
    Copy,
    GraphStep,
    History,
    Invoke,
    Look,
    Stream,
    Update,
    UpdateInside,
    UpdateMany,
)
from saverproof.values import show


def describe(step: GraphStep) -> str:
    """A step in words."""
    text = _said(step)
    return text if step.thread == "a" else f"on thread {step.thread!r}: {text}"


@singledispatch
def _said(step: GraphStep) -> str:
    raise TypeError(f"no words for a step of class {type(step).__name__}")


@_said.register
def _(step: Invoke) -> str:
    what = "go on" if step.given is None else f"invoke the graph with {show(step.given)}"
    return what + _from(step.at)


@_said.register
def _(step: Stream) -> str:
    what = "go on, streaming" if step.given is None else f"stream the graph on {show(step.given)}"
    inside = " of it and its subgraphs" if step.subgraphs else ""
    return f"{what}: {', '.join(step.modes)}{inside}"


@_said.register
def _(step: Answer) -> str:
    update = "" if step.update is None else f", with the update {show(step.update)}"
    return f"resume with {show(step.answer)}{update}{_from(step.at)}"


@_said.register
def _(step: AnswerEach) -> str:
    answers = ", ".join(f"{q!r} by {show(a)}" for q, a in step.answers.items())
    return f"resume, answering {answers}"


@_said.register
def _(step: Update) -> str:
    node = "" if step.as_node is None else f" as node {step.as_node!r}"
    return f"update the state with {show(step.values)}{node}{_from(step.at)}"


@_said.register
def _(step: UpdateInside) -> str:
    node = "" if step.as_node is None else f" as node {step.as_node!r}"
    return f"update the waiting subgraph's state with {show(step.values)}{node}"


@_said.register
def _(step: UpdateMany) -> str:
    return f"update the state in supersteps: {show(step.supersteps)}"


@_said.register
def _(step: Copy) -> str:
    return f"fork by a copy of checkpoint {step.at}"


@_said.register
def _(step: Look) -> str:
    return f"get the state at checkpoint {step.at}"


@_said.register
def _(step: History) -> str:
    parts = [] if step.limit is None else [f"at most {step.limit}"]
    parts += [] if step.before is None else [f"before checkpoint {step.before}"]
    parts += [] if step.source is None else [f"of source {step.source!r}"]
    return f"get the history{': ' if parts else ''}{', '.join(parts)}"


def _from(at: int | None) -> str:
    return "" if at is None else f", from checkpoint {at} (0 is the oldest)"
