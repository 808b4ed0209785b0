"""Graphs that stop in one process and go on in another.

The process of a release runs this text, so that it imports nothing of the kit.
"""

from __future__ import annotations

import inspect
import operator
import os
import signal
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
    """A node fails, as it does only before its graph goes on."""


class StoppingGraph:
    """A graph of a kind. Each node writes its name to the file ``log`` when it begins.

    ``stops`` is True in the process in which it is to fail or to be killed.
    """

    def __init__(self, kind: str, log: str, stops: bool) -> None:
        self.kind, self.log, self.stops = kind, log, stops

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
            # What is done beside a node that fails may be stored or not: here it surely is.
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
            if self.stops and self.kind == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.stops and self.kind == "failed":
                raise NodeFails
            asked = 0 if self.kind in _UNANSWERED else 3 if self.kind == _ASKED_OFTEN else 1
            answers = [interrupt(f"question {number}") for number in range(1, asked + 1)]
            return {"notes": [" ".join(["stop", *answers])]}

        return node

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
_THREAD = {"configurable": {"thread_id": "a thread"}}


def play(saver: Any, api: str, kind: str, part: str, log: str) -> Any:
    """Play the part of a graph before it stops, or the one after; the async API gives a coroutine
    of the answer.

    After it the answer says what the thread waited for, what it holds at its end, and which nodes
    began how often.
    """
    graph = StoppingGraph(kind, log, part == "before").compiled(saver)
    inputs: list[Any] = [{"notes": ["begin"]}]
    answers: list[Any] = [Command(resume=f"answer {number}") for number in (1, 2, 3)]
    if kind == _ASKED_OFTEN:
        inputs = [*inputs, answers[0]] if part == "before" else answers[1:]
    elif part == "after":
        inputs = [None] if kind in _UNANSWERED else answers[:1]
    calls = _Calls(graph, inputs, part, log)
    return calls.awaited() if api == "async" else calls.made()


class _Calls:
    """The calls of one part."""

    def __init__(self, graph: Any, inputs: list[Any], part: str, log: str) -> None:
        self.graph, self.inputs, self.part, self.log = graph, inputs, part, log
        # Releases before the parameter stored each step before the next one, as this one does.
        known = inspect.signature(graph.invoke).parameters
        self.more = {"durability": "sync"} if "durability" in known else {}

    def made(self) -> Any:
        """Make the calls by the sync API."""
        state = self.graph.get_state(_THREAD) if self.part == "after" else None
        with suppress(NodeFails):
            for given in self.inputs:
                self.graph.invoke(given, _THREAD, **self.more)
        return state and self.told(state, self.graph.get_state(_THREAD))

    async def awaited(self) -> Any:
        """Make the calls by the async API."""
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
