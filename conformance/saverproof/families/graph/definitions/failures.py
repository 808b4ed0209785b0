"""Graphs whose nodes fail at first."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy


def failing(note: Any, saver: Any) -> Any:
    """The second of three nodes fails when it is executed for the first time."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"]}

    def shaky(state: Any) -> Any:
        if note("shaky") == 1:
            raise ValueError("not yet")
        return {"log": ["shaky"]}

    def third(state: Any) -> Any:
        note("third")
        return {"log": ["third"]}

    graph = StateGraph(State).add_sequence([first, shaky, third])
    return graph.add_edge(START, "first").compile(checkpointer=saver)


def retried(note: Any, saver: Any) -> Any:
    """A node that is tried up to three times in a run, and fails twice."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def shaky(state: Any) -> Any:
        if note("shaky") % 3:
            raise ValueError("not yet")
        return {"log": ["shaky"]}

    def after(state: Any) -> Any:
        note("after")
        return {"log": ["after"]}

    policy = RetryPolicy(initial_interval=0.0, max_attempts=3, jitter=False, retry_on=ValueError)
    graph = StateGraph(State).add_node("shaky", shaky, retry_policy=policy).add_node(after)
    return graph.add_edge(START, "shaky").add_edge("shaky", "after").compile(checkpointer=saver)


def failing_beside(note: Any, saver: Any) -> Any:
    """A node that fails at first, but only when its neighbour's result was streamed."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def steady(state: Any) -> Any:
        note("steady")
        return {"log": ["steady"]}

    def shaky(state: Any) -> Any:
        if note("shaky") == 1:
            # Without this it would be a matter of luck whether the neighbour's writes are saved.
            note.gate.wait(5)
            raise ValueError("not yet")
        return {"log": ["shaky"]}

    def join(state: Any) -> Any:
        note("join")
        return {"log": ["join"]}

    graph = StateGraph(State).add_node(steady).add_node(shaky).add_node(join)
    for name in ("steady", "shaky"):
        graph.add_edge(START, name).add_edge(name, "join")
    return graph.compile(checkpointer=saver)
