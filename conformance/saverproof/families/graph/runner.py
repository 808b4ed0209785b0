"""Plays a program on a graph, and records what is observed after each step."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langgraph.types import Command, StateUpdate

from saverproof.errors import describe
from saverproof.families.graph import steps
from saverproof.families.graph.node_log import Notes
from saverproof.families.graph.normalise import (
    plain,
    plain_history,
    plain_snapshot,
    plain_writes,
    without_ids,
)
from saverproof.process import heartbeat
from saverproof.savers.targets.calling import Api, every

GraphMaker = Callable[[Any, Any], Any]
"""A function that makes a compiled graph, given a note and a saver."""

RESULT, NODES, STATE, HISTORY, WRITES = "result", "nodes", "state", "history", "writes"
_RAISED = "raised"
MEANING: Mapping[str, str] = {
    RESULT: "what the call gave",
    NODES: "the nodes that were executed",
    STATE: "the state after it",
    HISTORY: "the history after it",
    WRITES: "the pending writes stored after it",
}


@dataclass(frozen=True, slots=True)
class Observation:
    """One kind of observation after the step at ``position``, as plain data."""

    position: int
    kind: str
    value: Any


def raised(value: Any) -> bool:
    """Return whether an observed value stands for an exception."""
    return isinstance(value, dict) and set(value) == {_RAISED}


def error_of(text: str) -> dict[str, str]:
    """Return the observation that stands for an exception with this text."""
    return {_RAISED: text}


def ends_in_error(seen: Observation) -> bool:
    """Return whether the last call raised, at once or after parts of a stream."""
    chunks = seen.value if isinstance(seen.value, list) else [seen.value]
    return seen.kind == RESULT and bool(chunks) and raised(chunks[-1])


class NoCheckpoint(Exception):  # noqa: N818 (what there is not)
    """The error that a thread has fewer checkpoints than a step asks for."""


class Player:
    """A player of programs on one graph and one saver.

    ``how`` are the arguments of ``invoke`` and ``stream`` that choose the durability mode.
    ``prefix`` begins every thread id. ``looks`` are the kinds of looks after each step. Without
    ``deep`` only the newest checkpoint of each thread is looked at.
    """

    def __init__(
        self,
        make: GraphMaker,
        saver: Any,
        api: Api,
        *,
        how: Mapping[str, Any],
        prefix: str = "",
        deep: bool = True,
        looks: Collection[str] = (STATE, HISTORY, WRITES),
    ) -> None:
        self.notes = Notes()
        self.saver = saver
        self.api = api
        self.how = how
        self.prefix = prefix
        self.deep = deep
        self.looks = looks
        self.on_step: Callable[[int], None] = lambda position: None
        self.calls = 0
        self.seconds = 0.0
        self._make = make
        self._graph: Any = None
        self._snapshots: dict[str, list[Any]] = {}

    def play(self, program: steps.Program) -> Iterator[Observation]:
        """Take the steps one by one, and yield what is observed after each before taking the next.

        The play ends early at a step from a checkpoint that does not exist: some durability modes
        save less often.
        """
        for position, step in enumerate(program):
            self.on_step(position)
            before = len(self.notes)
            try:
                result = self._attempt(position, partial(self._act, step))
            except NoCheckpoint:
                return
            yield Observation(position, RESULT, result)
            yield Observation(position, NODES, sorted(self.notes[before:]))
            if isinstance(step, steps.READING):
                continue
            for kind, look in self._looks(step.thread):
                yield Observation(position, kind, self._attempt(position, look))

    def _attempt(self, position: int, act: Callable[[], Any]) -> Any:
        heartbeat.beat(position)
        self.calls += 1
        started = time.perf_counter()
        try:
            return act()
        except (KeyboardInterrupt, NoCheckpoint):
            raise
        except BaseException as error:  # noqa: BLE001 - nodes fail on purpose, and savers may
            return error_of(without_ids(describe(error)))
        finally:
            self.seconds += time.perf_counter() - started

    # --- looking -----------------------------------------------------------------------------

    def _looks(self, thread: str) -> list[tuple[str, Callable[[], Any]]]:
        looks = [(STATE, lambda: self._state(thread))]
        if self.deep:
            looks.append((HISTORY, lambda: self._history(thread)))
        looks.append((WRITES, lambda: self._writes(thread)))
        return [(kind, look) for kind, look in looks if kind in self.looks]

    def _state(self, thread: str) -> Any:
        return plain_snapshot(
            self.api.call(self._graph, "get_state", self._config(thread), subgraphs=True)
        )

    def _history(self, thread: str) -> Any:
        config = self._config(thread)
        self._snapshots[thread] = self.api.items(self._graph, "get_state_history", every, config)
        return plain_history(self._snapshots[thread])

    def _writes(self, thread: str) -> Any:
        if self.deep:
            config = {"configurable": {"thread_id": self.prefix + thread}}
            return plain_writes(self.api.items(self.saver, "list", every, config))
        found = self.api.call(self.saver, "get_tuple", self._config(thread))
        return plain_writes([] if found is None else [found])

    # --- acting ------------------------------------------------------------------------------

    def _config(self, thread: str, at: int | None = None) -> dict[str, Any]:
        if at is None:
            return {"configurable": {"thread_id": self.prefix + thread, "checkpoint_ns": ""}}
        if thread not in self._snapshots:
            self._history(thread)
        snapshots = self._snapshots[thread]
        if at >= len(snapshots):
            raise NoCheckpoint
        config: dict[str, Any] = snapshots[-1 - at].config
        return config

    def _act(self, step: steps.GraphStep) -> Any:
        if self._graph is None:
            self._graph = self._make(self.notes, self.saver)
        match step:
            case steps.Stream():
                return self._streamed(step)
            case steps.Look(at=at):
                return plain(self._call("get_state", self._config(step.thread, at)))
            case steps.History():
                return self._listed(step)
            case steps.Invoke(given=given, at=at):
                return self._run(given, self._config(step.thread, at))
            case steps.Answer() | steps.AnswerEach():
                at = step.at if isinstance(step, steps.Answer) else None
                return self._run(self._command(step), self._config(step.thread, at))
            case _:
                self._update(step)
                return None

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        return self.api.call(self._graph, method, *arguments, **named)

    def _run(self, given: Any, config: dict[str, Any]) -> Any:
        return plain(self._call("invoke", given, config, **self.how))

    def _command(self, step: steps.Answer | steps.AnswerEach) -> Any:
        if isinstance(step, steps.Answer):
            return Command(resume=step.answer, update=step.update)
        state = self._call("get_state", self._config(step.thread))
        asked = [interrupt for task in state.tasks for interrupt in task.interrupts]
        return Command(
            resume={
                interrupt_id(interrupt): step.answers[interrupt.value]
                for interrupt in asked
                if interrupt.value in step.answers
            }
        )

    def _streamed(self, step: steps.Stream) -> Any:
        chunks: list[Any] = []

        def take(chunk: Any) -> None:
            chunks.append(chunk)
            self.notes.gate.set()

        named: dict[str, Any] = {"stream_mode": list(step.modes), **self.how}
        if step.subgraphs:
            named["subgraphs"] = True
        try:
            self.api.items(
                self._graph, "stream", take, step.given, self._config(step.thread), **named
            )
        except Exception as error:  # noqa: BLE001 - a part of what the caller sees
            chunks.append(error_of(describe(error)))
        return plain(chunks)

    def _listed(self, step: steps.History) -> Any:
        named: dict[str, Any] = {"limit": step.limit}
        if step.before is not None:
            named["before"] = self._config(step.thread, step.before)
        if step.source is not None:
            named["filter"] = {"source": step.source}
        config = self._config(step.thread)
        return plain_history(
            self.api.items(self._graph, "get_state_history", every, config, **named)
        )

    def _update(self, step: steps.GraphStep) -> None:
        match step:
            case steps.Update(values=values, as_node=node, at=at):
                self._call("update_state", self._config(step.thread, at), values, as_node=node)
            case steps.UpdateInside(values=values, as_node=node):
                state = self._call("get_state", self._config(step.thread))
                inside = next(task.state for task in state.tasks if task.state is not None)
                self._call("update_state", inside, values, as_node=node)
            case steps.Copy(at=at):
                config = self._config(step.thread, at)
                self._call("update_state", config, None, as_node="__copy__")
            case steps.UpdateMany(supersteps=supersteps):
                updates = [[StateUpdate(*one) for one in superstep] for superstep in supersteps]
                self._call("bulk_update_state", self._config(step.thread), updates)
            case _:
                raise TypeError(f"no way to take a step of class {type(step).__name__}")


def interrupt_id(interrupt: Any) -> str:
    """Return the id by which one of several questions is answered."""
    found = getattr(interrupt, "id", None)
    return str(found if found is not None else interrupt.interrupt_id)
