"""Graphs without questions, failures or graphs inside."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send


def sequence(note: Any, saver: Any) -> Any:
    """Three nodes in a row."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]
        count: int

    def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"]}

    def second(state: Any) -> Any:
        note("second")
        return {"log": ["second"], "count": len(state["log"])}

    def third(state: Any) -> Any:
        note("third")
        return {"log": [f"third after {state['count']}"]}

    graph = StateGraph(State).add_sequence([first, second, third])
    return graph.add_edge(START, "first").compile(checkpointer=saver)


def sequence_async(note: Any, saver: Any) -> Any:
    """Three nodes in a row, coroutines all."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]
        count: int

    async def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"]}

    async def second(state: Any) -> Any:
        note("second")
        return {"log": ["second"], "count": len(state["log"])}

    async def third(state: Any) -> Any:
        note("third")
        return {"log": [f"third after {state['count']}"]}

    graph = StateGraph(State).add_sequence([first, second, third])
    return graph.add_edge(START, "first").compile(checkpointer=saver)


def branches(note: Any, saver: Any) -> Any:
    """Two branches of two nodes each that end in the same step, and a node that follows both."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]
        left: int
        right: int

    def left(state: Any) -> Any:
        note("left")
        return {"log": ["left"], "left": state.get("left", 0) + 1}

    def right(state: Any) -> Any:
        note("right")
        return {"log": ["right"], "right": state.get("right", 0) + 10}

    def far_left(state: Any) -> Any:
        note("far_left")
        return {"log": ["far left"]}

    def far_right(state: Any) -> Any:
        note("far_right")
        return {"log": ["far right"]}

    def join(state: Any) -> Any:
        note("join")
        return {"log": [f"join {state['left'] + state['right']}"]}

    graph = StateGraph(State)
    for node in (left, right, far_left, far_right, join):
        graph.add_node(node)
    graph.add_edge(START, "left").add_edge("left", "far_left")
    graph.add_edge(START, "right").add_edge("right", "far_right")
    graph.add_edge("far_left", "join").add_edge("far_right", "join")
    return graph.compile(checkpointer=saver)


def barrier(note: Any, saver: Any) -> Any:
    """A node that waits for two others, which do not end in the same step."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def step(name: str) -> Any:
        def node(state: Any) -> Any:
            note(name)
            return {"log": [name]}

        return node

    graph = StateGraph(State)
    for name in ("near", "far", "farther", "join"):
        graph.add_node(name, step(name))
    graph.add_edge(START, "near").add_edge(START, "far").add_edge("far", "farther")
    return graph.add_edge(["near", "farther"], "join").compile(checkpointer=saver)


def fan_out(note: Any, saver: Any) -> Any:
    """Each part is sent to a worker of its own (Send), and a reducer gathers what they give."""

    class State(TypedDict):
        parts: list[int]
        squares: Annotated[list[int], operator.add]
        total: int

    def share_out(state: Any) -> Any:
        return [Send("work", {"part": part}) for part in state["parts"]]

    def work(state: Any) -> Any:
        note(f"work {state['part']}")
        return {"squares": [state["part"] ** 2]}

    def add_up(state: Any) -> Any:
        note("add_up")
        return {"total": sum(state["squares"])}

    graph = StateGraph(State).add_node(work).add_node(add_up)
    graph.add_conditional_edges(START, share_out, ["work"])
    return graph.add_edge("work", "add_up").compile(checkpointer=saver)


def cycle(note: Any, saver: Any) -> Any:
    """A node that follows itself until it has counted down to nothing."""

    class State(TypedDict):
        left: int
        log: Annotated[list[int], operator.add]

    def count_down(state: Any) -> Any:
        note("count_down")
        return {"left": state["left"] - 1, "log": [state["left"]]}

    def again(state: Any) -> str:
        return "count_down" if state["left"] else END

    graph = StateGraph(State).add_node(count_down).add_edge(START, "count_down")
    graph.add_conditional_edges("count_down", again, ["count_down", END])
    return graph.compile(checkpointer=saver)


def commanded(note: Any, saver: Any) -> Any:
    """Nodes that say by a Command what comes next, one of them a Send."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]

    def choose(state: Any) -> Command[Any]:
        note("choose")
        way = "long" if len(state["log"]) % 2 else "short"
        return Command(update={"log": [way]}, goto=way)

    def long(state: Any) -> Command[Any]:
        note("long")
        goto = [Send("short", {"log": ["sent"]}), "last"]
        return Command(update={"log": ["on"]}, goto=goto)

    def short(state: Any) -> Any:
        note("short")
        return {"log": [f"short {state['log'][-1]}"]}

    def last(state: Any) -> Any:
        note("last")
        return {"log": ["last"]}

    graph = StateGraph(State).add_node("choose", choose, destinations=("long", "short"))
    graph.add_node("long", long, destinations=("short", "last"))
    graph.add_node(short).add_node(last).add_edge(START, "choose")
    return graph.compile(checkpointer=saver)


def empty_values(note: Any, saver: Any) -> Any:
    """Nodes that write nothing, or values that are easily taken for nothing."""

    class State(TypedDict):
        text: str
        number: int
        things: list[Any]
        table: dict[str, Any]
        maybe: Any

    def fill(state: Any) -> Any:
        note("fill")
        return {"text": "x", "number": 1, "things": [None], "table": {"": None}, "maybe": False}

    def idle(state: Any) -> Any:
        note("idle")

    def clear(state: Any) -> Any:
        note("clear")
        return {"text": "", "number": 0, "things": [], "table": {}, "maybe": None}

    graph = StateGraph(State).add_sequence([fill, idle, clear])
    return graph.add_edge(START, "fill").compile(checkpointer=saver)


def stopping(note: Any, saver: Any) -> Any:
    """Three nodes in a row that stops before the second and after it."""

    class State(TypedDict):
        log: Annotated[list[str], operator.add]
        said: str

    def first(state: Any) -> Any:
        note("first")
        return {"log": ["first"], "said": "by first"}

    def second(state: Any) -> Any:
        note("second")
        return {"log": [f"second heard {state['said']}"]}

    def third(state: Any) -> Any:
        note("third")
        return {"log": [f"third heard {state['said']}"]}

    graph = StateGraph(State).add_sequence([first, second, third]).add_edge(START, "first")
    stops = ["second"]
    return graph.compile(checkpointer=saver, interrupt_before=stops, interrupt_after=stops)
