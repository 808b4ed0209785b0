"""Small graphs that interrupt, fan out, fork and replay."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    number: int


class Inner(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    which: int


def shown(graph: Any, config: Any) -> Any:
    """The state and the history of a thread, without ids and times."""

    def plain(snapshot: Any) -> Any:
        waiting = [(t.name, [i.value for i in t.interrupts], t.error) for t in snapshot.tasks]
        step = (snapshot.metadata or {}).get("step")
        return snapshot.values, snapshot.next, waiting, step, snapshot.parent_config is None

    return plain(graph.get_state(config)), [plain(s) for s in graph.get_state_history(config)]


def same_run(saver: Any) -> Any:
    """Interrupt, resume, fan out, fork the past, and look at everything."""
    builder = StateGraph(State)
    builder.add_node("first", lambda state: {"log": ["first"], "number": 1})
    builder.add_node("ask", lambda state: {"log": [interrupt("one"), interrupt("two")]})
    builder.add_node("each", lambda state: {"log": [state["number"]], "number": 7})
    builder.add_node("beside", lambda state: {"log": ["beside"], "number": 3})
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    builder.add_edge("first", "beside")
    builder.add_conditional_edges("ask", lambda state: [Send("each", {"number": n}) for n in (1,)])
    builder.add_edge("each", END)
    graph = builder.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "g"}}
    seen = [graph.invoke({"log": ["in"]}, config), shown(graph, config)]
    for answer in ("a", "b"):
        seen += [graph.invoke(Command(resume=answer), config), shown(graph, config)]
    past = [s for s in graph.get_state_history(config) if "ask" in s.next]
    if past:
        fork = graph.update_state(past[-1].config, {"log": ["forked"], "number": 5})
        seen += [shown(graph, config), graph.invoke(None, fork), shown(graph, config)]
    return [without_ids(item) for item in seen], two_subgraphs(saver)


def two_subgraphs(saver: Any) -> Any:
    """Two tasks of one node, each a subgraph that waits for an answer of its own."""
    inner = StateGraph(Inner)
    inner.add_node("note", lambda state: {"log": [f"note {state['which']}"]})
    inner.add_node("wait", lambda state: {"log": [(state["which"], interrupt(state["which"]))]})
    inner.add_edge(START, "note")
    inner.add_edge("note", "wait")
    outer = StateGraph(State)
    outer.add_node("sub", inner.compile())
    outer.add_conditional_edges(START, lambda s: [Send("sub", {"which": n}) for n in (1, 2)])
    outer.add_edge("sub", END)
    graph = outer.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "s"}}
    asked = graph.invoke({"log": ["in"]}, config)["__interrupt__"]
    answers = {item.id: f"answer {item.value}" for item in asked}
    return sorted(map(str, graph.invoke(Command(resume=answers), config)["log"]))


def without_ids(item: Any) -> Any:
    """Interrupt objects by their values."""
    if isinstance(item, dict) and "__interrupt__" in item:
        return {**item, "__interrupt__": [i.value for i in item["__interrupt__"]]}
    return item


def functional_api(saver: Any) -> Any:
    """A task before an interrupt, and what was returned the time before."""
    called: list[int] = []

    @task
    def counted(number: int) -> int:
        called.append(number)
        return number + 1

    @entrypoint(checkpointer=saver)
    def flow(number: int, previous: Any = None) -> Any:
        result = counted(number).result()
        answer = interrupt(result)
        return {"result": result, "answer": answer, "previous": previous}

    config: Any = {"configurable": {"thread_id": "f"}}
    seen = []
    for number in (1, 5):
        seen.append(without_ids(flow.invoke(number, config)))
        seen.append(flow.invoke(Command(resume="yes"), config))
    return seen, called


def replay_subgraph(saver: Any) -> Any:
    """Replay a parent from before its subgraph's second run."""
    runs: list[int] = []

    def step(state: State) -> State:
        runs.append(len(state.get("log", [])))
        return {"log": [f"inner {len(state.get('log', []))}"]}

    inner = StateGraph(State)
    inner.add_node("step", step)
    inner.add_edge(START, "step")
    outer = StateGraph(State)
    outer.add_node("sub", inner.compile(checkpointer=True))
    outer.add_node("after", lambda state: {"number": len(state["log"])})
    outer.add_edge(START, "sub")
    outer.add_edge("sub", "after")
    graph = outer.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "r"}}
    seen = [graph.invoke({"log": [f"in {n}"]}, config) for n in range(3)]
    past = [s for s in graph.get_state_history(config) if s.next == ("sub",)]
    for snapshot in past:
        seen.append(graph.invoke(None, snapshot.config))
    return seen, runs


GRAPHS = {
    "graph/same-run": same_run,
    "graph/functional-api": functional_api,
    "graph/replay-subgraph": replay_subgraph,
}
