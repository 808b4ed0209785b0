"""Graphs that stop in one process and go on in another.

The process of a release runs this text, so that it imports nothing of the kit.
"""

from __future__ import annotations

import asyncio
import inspect
import operator
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict


class NotedState(TypedDict):
    """The state: one note for each node that is done."""

    notes: Annotated[list[str], operator.add]


Node = Callable[[NotedState], Any]


class NodeFails(Exception):  # noqa: N818 - it is meant to
    """The failure of a node. The node fails only in the part before its graph goes on."""


class StoppingGraph:
    """A graph of one kind. Each node writes its name to the file ``log`` when it begins.

    ``stops`` is True in the process in which the graph is to fail or to be killed. ``latest``
    returns the latest checkpoint that the saver has.
    """

    def __init__(self, kind: str, log: str, stops: bool, latest: Callable[[], Any]) -> None:
        self.kind, self.log, self.stops, self.latest = kind, log, stops, latest

    def compiled(self, saver: Any) -> Any:
        """Return the graph: plan, then two nodes at once or one after the other, then finish, and
        the same again.
        """
        builder: Any = StateGraph(NotedState)
        builder.add_node("plan", self.noting("plan"))
        builder.add_node("tidy", self.noting("tidy"))
        builder.add_node("stop", self.subgraph() if self.kind == "subgraph" else self.stopping())
        builder.add_node("finish", self.noting("finish"))
        builder.add_edge(START, "plan")
        builder.add_edge("plan", "tidy")
        if self.kind in _UNANSWERED:
            # A neighbour of a failing node may be stored or not. In a row, it surely is.
            builder.add_edge("tidy", "stop")
            builder.add_edge("stop", "finish")
        else:
            builder.add_edge("plan", "stop")
            builder.add_edge(["tidy", "stop"], "finish")
        builder.add_conditional_edges("finish", self.after_finish, ["plan", END])
        return builder.compile(checkpointer=saver)

    def after_finish(self, state: NotedState) -> str:
        """Return the node that follows: the graph goes round once more, so that nodes which began
        under one release begin again under the other.
        """
        is_over = state["notes"].count("finish") > 1 or self.kind == "subgraph"
        return END if is_over else "plan"

    def began(self, name: str) -> None:
        """Write that a node begins."""
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"{name}\n")

    def noting(self, name: str) -> Node:
        """Return a node that leaves a note."""

        def node(state: NotedState) -> Any:
            self.began(name)
            return {"notes": [name]}

        return node

    def stopping(self) -> Node:
        """Return the node at which the graph stops."""

        def node(state: NotedState) -> Any:
            self.began("stop")
            if "finish" in state["notes"]:
                return {"notes": ["stop"]}
            if self.stops and self.kind == "killed" and self.is_stored("tidy"):
                os.kill(os.getpid(), signal.SIGKILL)
            if self.stops and self.kind == "failed":
                raise NodeFails
            asked = 0 if self.kind in _UNANSWERED else 3 if self.kind == _ASKED_OFTEN else 1
            answers = [interrupt(f"question {number}") for number in range(1, asked + 1)]
            return {"notes": [" ".join(["stop", *answers])]}

        return node

    def is_stored(self, node: str) -> bool:
        """Return whether the output of a node is stored. LangGraph before 0.6 stores a step while
        the next one runs, so this waits for it.
        """
        for _ in range(_MOST_LOOKS):
            found = self.latest()
            if found and node in found.checkpoint["channel_values"].get("notes", ()):
                return True
            time.sleep(_BETWEEN_LOOKS_S)
        return False

    def subgraph(self) -> Any:
        """Return a graph whose second node stops."""
        builder: Any = StateGraph(NotedState)
        builder.add_node("prepare", self.noting("prepare"))
        builder.add_node("ask", self.stopping())
        builder.add_edge(START, "prepare")
        builder.add_edge("prepare", "ask")
        return builder.compile()


_UNANSWERED = ("failed", "killed")
_ASKED_OFTEN = "asked-often"
# Ten seconds: a step is stored in milliseconds, and the machine may be busy.
_MOST_LOOKS, _BETWEEN_LOOKS_S = 500, 0.02
_THREAD = {"configurable": {"thread_id": "a thread"}}


def play(saver: Any, api: str, kind: str, part: str, log: str) -> Any:
    """Play the part of a graph before its stop, or the part after it. The async API returns a
    coroutine of the answer.

    After it the answer says what the thread waited for, what it holds at its end, and which nodes
    began how often.
    """
    latest = _Latest(saver)
    graph = StoppingGraph(kind, log, part == "before", latest.found).compiled(saver)
    inputs: list[Any] = [{"notes": ["begin"]}]
    answers: list[Any] = [Command(resume=f"answer {number}") for number in (1, 2, 3)]
    if kind == _ASKED_OFTEN:
        inputs = [*inputs, answers[0]] if part == "before" else answers[1:]
    elif part == "after":
        inputs = [None] if kind in _UNANSWERED else answers[:1]
    calls = _Calls(graph, inputs, part, log)
    return calls.awaited(latest) if api == "async" else calls.made()


class _Latest:
    """Reads the latest checkpoint, for a node. ``loop`` is the loop on which the graph runs, if
    any.
    """

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.loop: asyncio.AbstractEventLoop | None = None

    def found(self) -> Any:
        """Return the latest checkpoint, through the saver's API. In an async graph, sync nodes run
        in threads of their own, so this may wait for the loop.
        """
        if self.loop is None:
            return self.saver.get_tuple(_THREAD)
        asked = self.saver.aget_tuple(_THREAD)
        return asyncio.run_coroutine_threadsafe(asked, self.loop).result()


class _Calls:
    """The calls of one part."""

    def __init__(self, graph: Any, inputs: list[Any], part: str, log: str) -> None:
        self.graph, self.inputs, self.part, self.log = graph, inputs, part, log
        # Each step is stored before the next one begins, as far as the release can do that.
        known = inspect.signature(graph.invoke).parameters
        self.more = {"durability": "sync"} if "durability" in known else {}

    def made(self) -> Any:
        """Make the calls by the sync API."""
        state = self.graph.get_state(_THREAD) if self.part == "after" else None
        with suppress(NodeFails):
            for given in self.inputs:
                self.graph.invoke(given, _THREAD, **self.more)
        return state and self.told(state, self.graph.get_state(_THREAD))

    async def awaited(self, latest: _Latest) -> Any:
        """Make the calls by the async API."""
        latest.loop = asyncio.get_running_loop()
        state = await self.graph.aget_state(_THREAD) if self.part == "after" else None
        with suppress(NodeFails):
            for given in self.inputs:
                await self.graph.ainvoke(given, _THREAD, **self.more)
        return state and self.told(state, await self.graph.aget_state(_THREAD))

    def told(self, before: Any, after: Any) -> dict[str, Any]:
        """Return what a graph that went on shows."""
        with open(self.log, encoding="utf-8") as log:
            began = Counter(log.read().split())
        waits = [found.value for task in before.tasks for found in task.interrupts]
        return {
            "what it waits for": waits,
            "nodes that are next": sorted(before.next),
            "its notes at the end": after.values.get("notes"),
            "nodes that are left": sorted(after.next),
            "how often each node began": dict(sorted(began.items())),
        }
