"""Graphs that stop to ask, and go on when they are answered."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt


def asking(note: Any, saver: Any) -> Any:
    """A node that asks once, between two others."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]
        tone: str

    def before(state: Any) -> Any:
        note("before")
        return {"log": ["before"]}

    def ask(state: Any) -> Any:
        note("ask")
        answer = interrupt("who?")
        return {"log": [answer]}

    def after(state: Any) -> Any:
        note("after")
        return {"log": [f"after, {state.get('tone', 'calm')}"]}

    graph = StateGraph(State).add_sequence([before, ask, after])
    return graph.add_edge(START, "before").compile(checkpointer=saver)


def asking_on(note: Any, saver: Any) -> Any:
    """One node that asks three times."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    def ask(state: Any) -> Any:
        note("ask")
        answers = [interrupt({"question": number}) for number in range(3)]
        return {"log": answers}

    graph = StateGraph(State).add_node(ask).add_edge(START, "ask")
    return graph.compile(checkpointer=saver)


def asking_abreast(note: Any, saver: Any) -> Any:
    """Two nodes that ask at the same time, beside one that just works."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    def left(state: Any) -> Any:
        note("left")
        return {"log": [["left", interrupt("left?")]]}

    def right(state: Any) -> Any:
        note("right")
        return {"log": [["right", interrupt("right?")]]}

    def work(state: Any) -> Any:
        note("work")
        return {"log": [["work", len(state["log"])]]}

    def join(state: Any) -> Any:
        note("join")
        return {"log": [["join", len(state["log"])]]}

    graph = StateGraph(State)
    for node in (left, right, work, join):
        graph.add_node(node)
    for name in ("left", "right", "work"):
        graph.add_edge(START, name).add_edge(name, "join")
    return graph.compile(checkpointer=saver)


def asking_many(note: Any, saver: Any) -> Any:
    """Workers by Send, each second of which asks."""

    class State(TypedDict):
        parts: list[int]
        log: Annotated[list[Any], operator.add]

    def share_out(state: Any) -> Any:
        return [Send("work", {"part": part}) for part in state["parts"]]

    def work(state: Any) -> Any:
        note(f"work {state['part']}")
        answer = interrupt(f"part {state['part']}?") if state["part"] % 2 else "unasked"
        return {"log": [[state["part"], answer]]}

    def join(state: Any) -> Any:
        note("join")
        return {"log": ["join"]}

    graph = StateGraph(State).add_node(work).add_node(join)
    graph.add_conditional_edges(START, share_out, ["work"])
    return graph.add_edge("work", "join").compile(checkpointer=saver)
