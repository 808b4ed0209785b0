"""Graphs inside of graphs, which keep their checkpoints in namespaces of their own."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt


def nested(note: Any, saver: Any) -> Any:
    """A graph as a node, two levels deep, without questions."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def step(name: str) -> Any:
        def node(state: Any) -> Any:
            note(name)
            return {"log": [name]}

        return node

    innermost = StateGraph(State).add_node("deep", step("deep")).add_edge(START, "deep")
    inner = (
        StateGraph(State).add_node("upper", step("upper")).add_node("lower", innermost.compile())
    )
    inner.add_edge(START, "upper").add_edge("upper", "lower")
    outer = StateGraph(State).add_node("inner", inner.compile()).add_node("last", step("last"))
    outer.add_edge(START, "inner").add_edge("inner", "last")
    return outer.compile(checkpointer=saver)


def nested_asking(note: Any, saver: Any) -> Any:
    """A graph as a node, whose second of three nodes asks; what it keeps to itself is kept."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    class Inner(TypedDict):
        log: Annotated[list[Any], operator.add]
        own: str

    def prepare(state: Any) -> Any:
        note("prepare")
        return {"own": f"prepared after {len(state['log'])}"}

    def ask(state: Any) -> Any:
        note("ask")
        return {"log": [interrupt("who?")]}

    def finish(state: Any) -> Any:
        note("finish")
        return {"log": [state["own"]]}

    def last(state: Any) -> Any:
        note("last")
        return {"log": ["last"]}

    inner = StateGraph(Inner).add_sequence([prepare, ask, finish]).add_edge(START, "prepare")
    outer = StateGraph(State).add_node("inner", inner.compile()).add_node(last)
    outer.add_edge(START, "inner").add_edge("inner", "last")
    return outer.compile(checkpointer=saver)


def nested_deep(note: Any, saver: Any) -> Any:
    """A question two graphs down, and one more in the graph above it."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    def ask(name: str) -> Any:
        def node(state: Any) -> Any:
            note(name)
            return {"log": [[name, interrupt(f"{name}?")]]}

        return node

    def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"]}

    innermost = StateGraph(State).add_node(first).add_node("deep", ask("deep"))
    innermost.add_edge(START, "first").add_edge("first", "deep")
    inner = (
        StateGraph(State).add_node("below", innermost.compile()).add_node("middle", ask("middle"))
    )
    inner.add_edge(START, "below").add_edge("below", "middle")
    outer = StateGraph(State).add_node("inner", inner.compile()).add_edge(START, "inner")
    return outer.compile(checkpointer=saver)


def nested_many(note: Any, saver: Any) -> Any:
    """A graph that is sent several inputs at once (Send), and asks about each."""

    class State(TypedDict):
        parts: list[int]
        log: Annotated[list[Any], operator.add]

    class Part(TypedDict):
        part: int
        log: Annotated[list[Any], operator.add]

    def share_out(state: Any) -> Any:
        return [Send("inner", {"part": part}) for part in state["parts"]]

    def look(state: Any) -> Any:
        note(f"look {state['part']}")
        return {"part": state["part"] + 100}

    def ask(state: Any) -> Any:
        note(f"ask {state['part']}")
        return {"log": [[state["part"], interrupt(f"part {state['part']}?")]]}

    inner = StateGraph(Part, output_schema=State).add_sequence([look, ask]).add_edge(START, "look")
    outer = StateGraph(State).add_node("inner", inner.compile())
    outer.add_conditional_edges(START, share_out, ["inner"])
    return outer.compile(checkpointer=saver)


def remembering(note: Any, saver: Any) -> Any:
    """A graph as a node that remembers its own state from turn to turn (checkpointer=True)."""

    class State(TypedDict):
        turn: str
        heard: list[str]

    class Inner(TypedDict):
        turn: str
        all: Annotated[list[str], operator.add]

    def listen(state: Any) -> Any:
        note("listen")
        return {"all": [state["turn"]]}

    def think(state: Any) -> Any:
        note("think")
        return {"all": [f"thought {len(state['all'])}"]}

    inner = StateGraph(Inner).add_sequence([listen, think]).add_edge(START, "listen")
    memory: Any = inner.compile(checkpointer=True)

    def recall(state: Any) -> Any:
        note("recall")
        return {"heard": memory.invoke({"turn": state["turn"]})["all"]}

    def last(state: Any) -> Any:
        note("last")
        return {"turn": f"{state['turn']} done"}

    outer = StateGraph(State).add_node(recall).add_node(last)
    outer.add_edge(START, "recall").add_edge("recall", "last")
    return outer.compile(checkpointer=saver)


def remembering_async(note: Any, saver: Any) -> Any:
    """A graph as a node that remembers its own state from turn to turn (checkpointer=True)."""

    class State(TypedDict):
        turn: str
        heard: list[str]

    class Inner(TypedDict):
        turn: str
        all: Annotated[list[str], operator.add]

    def listen(state: Any) -> Any:
        note("listen")
        return {"all": [state["turn"]]}

    def think(state: Any) -> Any:
        note("think")
        return {"all": [f"thought {len(state['all'])}"]}

    inner = StateGraph(Inner).add_sequence([listen, think]).add_edge(START, "listen")
    memory: Any = inner.compile(checkpointer=True)

    async def recall(state: Any) -> Any:
        note("recall")
        return {"heard": (await memory.ainvoke({"turn": state["turn"]}))["all"]}

    def last(state: Any) -> Any:
        note("last")
        return {"turn": f"{state['turn']} done"}

    outer = StateGraph(State).add_node(recall).add_node(last)
    outer.add_edge(START, "recall").add_edge("recall", "last")
    return outer.compile(checkpointer=saver)


def called_twice(note: Any, saver: Any) -> Any:
    """A node that calls a graph twice, each call with a question; so two namespaces of one task."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    def look(state: Any) -> Any:
        note("look")
        return {"log": ["looked"]}

    def ask(state: Any) -> Any:
        note("ask")
        return {"log": [interrupt(f"{state['log'][0]}?")]}

    inner = StateGraph(State).add_sequence([look, ask]).add_edge(START, "look").compile()

    def calls(state: Any) -> Any:
        one = inner.invoke({"log": ["one"]})
        two = inner.invoke({"log": ["two"]})
        return {"log": [one["log"], two["log"]]}

    outer = StateGraph(State).add_node(calls).add_edge(START, "calls")
    return outer.compile(checkpointer=saver)


def called_twice_async(note: Any, saver: Any) -> Any:
    """A node that calls a graph twice, each call with a question; so two namespaces of one task."""

    class State(TypedDict):
        log: Annotated[list[Any], operator.add]

    def look(state: Any) -> Any:
        note("look")
        return {"log": ["looked"]}

    def ask(state: Any) -> Any:
        note("ask")
        return {"log": [interrupt(f"{state['log'][0]}?")]}

    inner = StateGraph(State).add_sequence([look, ask]).add_edge(START, "look").compile()

    async def calls(state: Any) -> Any:
        one = await inner.ainvoke({"log": ["one"]})
        two = await inner.ainvoke({"log": ["two"]})
        return {"log": [one["log"], two["log"]]}

    outer = StateGraph(State).add_node(calls).add_edge(START, "calls")
    return outer.compile(checkpointer=saver)
