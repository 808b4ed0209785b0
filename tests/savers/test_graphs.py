"""Real graphs, as LangGraph documents persistence, on the bundled savers."""

import asyncio
import operator
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

from saverproof_savers import JsonFirstSerializer, SnapshotSqliteSaver, SqliteSaver

Config = dict[str, dict[str, str]]


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    answer: str


def config(thread_id: str = "thread") -> Any:
    return {"configurable": {"thread_id": thread_id}}


@pytest.fixture(params=["sqlite", "snapshot", "json"])
def graph_saver(request: pytest.FixtureRequest, path: Path) -> Iterator[Any]:
    if request.param == "snapshot":
        with SnapshotSqliteSaver(path) as saver:
            yield saver
        return
    serde = JsonFirstSerializer() if request.param == "json" else None
    with SqliteSaver.open(path, serde=serde) as saver:
        yield saver


def ask(state: State) -> dict[str, Any]:
    answer = interrupt("what now?")
    return {"log": [f"asked: {answer}"], "answer": answer}


def interrupting() -> Any:
    builder = StateGraph(State)
    builder.add_node("first", lambda state: {"log": ["first"]})
    builder.add_node("ask", ask)
    builder.add_node("last", lambda state: {"log": [f"last: {state['answer']}"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "ask")
    builder.add_edge("ask", "last")
    builder.add_edge("last", END)
    return builder


def summary(graph: Any, of: Any) -> list[Any]:
    """The history without what differs from run to run."""
    return [
        (
            each.values,
            each.next,
            each.metadata.get("source"),
            each.metadata.get("step"),
            sorted(task.name for task in each.tasks),
        )
        for each in graph.get_state_history(of)
    ]


def test_a_graph_waits_for_an_answer_and_goes_on_in_another_process(path: Path) -> None:
    with SqliteSaver.open(path) as saver:
        graph = interrupting().compile(checkpointer=saver)
        assert "__interrupt__" in graph.invoke({"log": [], "answer": ""}, config())
    with SqliteSaver.open(path) as saver:
        graph = interrupting().compile(checkpointer=saver)
        assert graph.get_state(config()).next == ("ask",)
        final = graph.invoke(Command(resume="go"), config())
        assert final == {"log": ["first", "asked: go", "last: go"], "answer": "go"}


@pytest.mark.parametrize("api", ["sync", "async"])
def test_runs_are_those_of_memory(graph_saver: Any, api: str) -> None:
    histories = []
    for saver in (graph_saver, InMemorySaver()):
        graph = interrupting().compile(checkpointer=saver)

        def run(given: Any, graph: Any = graph) -> Any:
            if api == "async":
                return asyncio.run(graph.ainvoke(given, config()))
            return graph.invoke(given, config())

        run({"log": ["start"], "answer": ""})
        run(Command(resume="yes", update={"log": ["from outside"]}))
        graph.update_state(config(), {"log": ["edited"]}, as_node="ask")
        run(None)
        histories.append(summary(graph, config()))
    assert histories[0] == histories[1]


def time_travel(saver: Any) -> list[Any]:
    """What a replay, a fork and a copy from an older checkpoint give, and what stays."""
    graph = interrupting().compile(checkpointer=saver)
    graph.invoke({"log": [], "answer": ""}, config())
    graph.invoke(Command(resume="one"), config())
    history = list(graph.get_state_history(config()))
    before_last = next(each for each in history if each.next == ("last",))
    replayed = graph.invoke(None, before_last.config)
    forked = graph.update_state(before_last.config, {"answer": "two"})
    copied = graph.update_state(before_last.config, None, as_node="__copy__")
    return [
        replayed["log"],
        graph.get_state(copied).values,
        graph.invoke(None, forked)["log"],
        graph.get_state(history[0].config).values,
        before_last.values,
    ]


def test_time_travel_replays_and_forks(graph_saver: Any) -> None:
    facts = time_travel(graph_saver)
    assert facts[0] == ["first", "asked: one", "last: one"]
    assert facts[1] == facts[4]
    # Versions of LangGraph differ in what a fork starts from, so memory says what is right.
    assert facts == time_travel(InMemorySaver())


def test_a_subgraph_keeps_its_state_through_an_interrupt(graph_saver: Any) -> None:
    inner = StateGraph(State)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=graph_saver)
    graph.invoke({"log": [], "answer": ""}, config())
    state = graph.get_state(config(), subgraphs=True)
    assert state.tasks[0].state.next == ("ask",)
    assert graph.invoke(Command(resume="in"), config())["log"] == ["asked: in"]
    namespaces = {
        each.config["configurable"]["checkpoint_ns"].split(":")[0]
        for each in graph_saver.list(config())
    }
    assert namespaces == {"", "inner"}


def test_a_chat_is_remembered_by_thread(graph_saver: Any) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [AIMessage(str(len(state["messages"])))]})
    builder.add_edge(START, "model")
    graph = builder.compile(checkpointer=graph_saver)
    for _ in range(5):
        graph.invoke({"messages": [HumanMessage("hi")]}, config("one"))
    graph.invoke({"messages": [HumanMessage("hi")]}, config("two"))
    said = [each.content for each in graph.get_state(config("one")).values["messages"]]
    assert said == ["hi", "1", "hi", "3", "hi", "5", "hi", "7", "hi", "9"]
    assert len(graph.get_state(config("two")).values["messages"]) == 2


def test_work_that_was_sent_out_comes_back_and_failed_work_is_done_again(
    graph_saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    stored, put_writes = threading.Event(), graph_saver.put_writes

    def noted(place: Any, writes: Any, *rest: Any) -> None:
        put_writes(place, writes, *rest)
        if ("log", ["0"]) in writes:
            stored.set()

    monkeypatch.setattr(graph_saver, "put_writes", noted)

    def worker(number: int) -> dict[str, Any]:
        calls.append(number)
        if number == 3 and calls.count(3) == 1:
            # LangGraph stores nothing more of a step in which something failed.
            assert stored.wait(60)
            raise RuntimeError("once")
        return {"log": [str(number)]}

    builder = StateGraph(State)
    builder.add_node("plan", lambda state: {"log": ["plan"]})
    builder.add_node("worker", worker)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda _: [Send("worker", n) for n in range(5)])
    graph = builder.compile(checkpointer=graph_saver)
    with pytest.raises(RuntimeError, match="once"):
        graph.invoke({"log": [], "answer": ""}, config())
    assert graph.invoke(None, config())["log"] == ["plan", "0", "1", "2", "3", "4"]
    # What was done before the failure is not done again.
    assert calls.count(0) == 1
    assert calls.count(3) == 2


def test_the_functional_api_finishes_a_task_once(graph_saver: Any) -> None:
    calls: list[str] = []

    @task
    def step(name: str) -> str:
        calls.append(name)
        return name.upper()

    @entrypoint(checkpointer=graph_saver)
    def workflow(name: str, *, previous: Any = None) -> Any:
        done = step(name).result()
        answer = interrupt("go on?")
        return entrypoint.final(value=[previous, done, answer], save=done)

    workflow.invoke("a", config())
    assert workflow.invoke(Command(resume="yes"), config()) == [None, "A", "yes"]
    assert calls == ["a"]
    workflow.invoke("b", config())
    assert workflow.invoke(Command(resume="no"), config()) == ["A", "B", "no"]


@pytest.mark.parametrize("strategy", ["before", "between"])
def test_a_pruned_thread_goes_on(path: Path, strategy: str) -> None:
    with SqliteSaver.open(path) as saver:
        graph = interrupting().compile(checkpointer=saver)
        graph.invoke({"log": [], "answer": ""}, config())
        if strategy == "before":
            saver.prune(["thread"])
            assert len(list(saver.list(config()))) == 1
        graph.invoke(Command(resume="go"), config())
        saver.prune(["thread"])
        assert len(list(saver.list(config()))) == 1
        graph.invoke({"log": ["again"], "answer": ""}, config())
        final = graph.invoke(Command(resume="stop"), config())
        assert final["log"][:3] == ["first", "asked: go", "last: go"]
        assert final["log"][-1] == "last: stop"


def test_a_delta_channel_survives_pruning(path: Path) -> None:
    channels = pytest.importorskip("langgraph.channels")
    if not hasattr(channels, "DeltaChannel"):
        pytest.skip("langgraph without delta channels")

    def extend(left: list[str], right: list[list[str]]) -> list[str]:
        return [*left, *(item for batch in right for item in batch)]

    class Log(TypedDict):
        log: Annotated[list[str], channels.DeltaChannel(extend, snapshot_frequency=4)]

    builder = StateGraph(Log)
    builder.add_node("node", lambda state: {"log": [f"seen {len(state['log'])}"]})
    builder.add_edge(START, "node")
    with SqliteSaver.open(path) as saver:
        graph = builder.compile(checkpointer=saver)
        for turn in range(11):
            graph.invoke({"log": [f"turn {turn}"]}, config())
            before = graph.get_state(config()).values
            saver.prune(["thread"])
            assert graph.get_state(config()).values == before
        assert len(before["log"]) == 22
        assert len(list(saver.list(config()))) < 22
