"""Graphs with a delta channel, which is rebuilt from writes; only newer LangGraphs have it."""

from typing import Annotated, Any, TypedDict

from langgraph.channels import DeltaChannel  # type: ignore[attr-defined,unused-ignore]
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


def delta(note: Any, saver: Any) -> Any:
    """A delta channel that gets a snapshot at every third update, and a question on the way."""

    def extend(value: Any, writes: Any) -> Any:
        return [*(value or []), *(item for write in writes for item in write)]

    class State(TypedDict):
        log: Annotated[list[Any], DeltaChannel(extend, snapshot_frequency=3)]
        count: int

    def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"], "count": len(state["log"])}

    def ask(state: Any) -> Any:
        note("ask")
        return {"log": [interrupt("who?")]}

    def last(state: Any) -> Any:
        note("last")
        return {"log": ["last", state["count"]]}

    graph = StateGraph(State).add_sequence([first, ask, last]).add_edge(START, "first")
    return graph.compile(checkpointer=saver)


def delta_abreast(note: Any, saver: Any) -> Any:
    """Twelve nodes that write to one delta channel side by side, which their paths put in order."""

    def extend(value: Any, writes: Any) -> Any:
        return [*(value or []), *(item for write in writes for item in write)]

    class State(TypedDict):
        log: Annotated[list[Any], DeltaChannel(extend, snapshot_frequency=50)]

    def step(name: str) -> Any:
        def node(state: Any) -> Any:
            note(name)
            return {"log": [name]}

        return node

    graph = StateGraph(State)
    names = [f"node {number}" for number in range(12)]
    for name in names:
        graph.add_node(name, step(name)).add_edge(START, name).add_edge(name, "last")
    return graph.add_node("last", step("last")).compile(checkpointer=saver)
