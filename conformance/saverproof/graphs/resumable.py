"""Graphs to be killed and resumed: started, or picked up where another process left them, and run
to their end by answering what they ask.

A process does::

    found = resumable("asking")
    graph = found.make(saver, FileNotes(path))
    found.carry_on(graph, SyncCaller(), thread_config("t"), how)

and after a kill a new process does the same with the number of stages of which the first checkpoint
was acknowledged. ``how`` is a value of ``durability_modes()``. The outcome is comparable: it is
that of an uninterrupted run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from saverproof.graphs.calling import Caller, gathered
from saverproof.graphs.installed import DELTA, abilities
from saverproof.graphs.plain import plain, plain_snapshot
from saverproof.graphs.player import interrupt_id
from saverproof.graphs.scenarios import maker
from saverproof.graphs.steps import Json, Update

_MOST_RUNS = 20
EXPECTED_FAILURE = "not yet"
"""The text of the ValueError that failing nodes raise on purpose."""


class Stuck(Exception):  # noqa: N818 (what became of the graph)
    """The graph does not come to its end however often it is run on."""


@dataclass(frozen=True, slots=True)
class Resumable:
    """One of these graphs.

    ``stages`` are what is done: it is run on ``given`` to its end, then changed by each update in
    turn and run to its end again. ``answers`` maps the questions it asks to answers. ``again`` are
    the names of nodes (as noted) that may be executed again although they were done: they ask, fail
    on purpose, or wrap a subgraph. ``modes`` are the durability modes in which it can be played.
    """

    name: str
    graph: str
    given: Json
    answers: Mapping[str, Json] = field(default_factory=dict)
    updates: tuple[Update, ...] = ()
    again: frozenset[str] = frozenset()
    modes: tuple[str, ...] = ("sync", "async", "exit")
    wants: frozenset[str] = frozenset()

    def make(self, saver: Any, note: Any, api: str = "sync") -> Any:
        """The compiled graph, whose nodes call ``note`` with their names."""
        return maker(self.graph, api)(note, saver)

    def carry_on(
        self,
        graph: Any,
        caller: Caller,
        config: Mapping[str, Any],
        how: Mapping[str, Any],
        acknowledged: int = 0,
    ) -> dict[str, Any]:
        """Start the graph, or go on after a kill, and come to the end; the outcome.

        ``acknowledged`` is the number of stages of which the first checkpoint was acknowledged: the
        graph is resumed from there even if the store shows nothing of it. A stage that was not
        acknowledged but is there is not begun again either.

        Raises:
            Stuck: it does not come to its end.
            Exception: whatever the saver raises.
        """
        begun = max(acknowledged, self._begun(graph, caller, config))
        if begun == 0:
            self._run(graph, caller, config, how, self.given)
        self._finish(graph, caller, config, how)
        for update in self.updates[max(begun - 1, 0) :]:
            at = config if update.at is None else self._earlier(graph, caller, config, update.at)
            caller.call(graph, "update_state", at, update.values, as_node=update.as_node)
            self._finish(graph, caller, config, how)
        return outcome(graph, caller, config)

    def _begun(self, graph: Any, caller: Caller, config: Mapping[str, Any]) -> int:
        sources = [
            (snapshot.metadata or {}).get("source")
            for snapshot in gathered(caller, graph, "get_state_history", config)
        ]
        return bool(sources) + sources.count("update")

    def _earlier(
        self, graph: Any, caller: Caller, config: Mapping[str, Any], number: int
    ) -> Mapping[str, Any]:
        snapshots = gathered(caller, graph, "get_state_history", config)
        found: Mapping[str, Any] = snapshots[-1 - number].config
        return found

    def _finish(
        self, graph: Any, caller: Caller, config: Mapping[str, Any], how: Mapping[str, Any]
    ) -> None:
        for _ in range(_MOST_RUNS):
            state = caller.call(graph, "get_state", config)
            # `next` leaves out tasks that are done although the step that they belong to is not.
            if state.metadata and not state.tasks:
                return
            self._run(graph, caller, config, how, self._next_input(state))
        raise Stuck(f"{self.name}: after {_MOST_RUNS} runs the graph is still not at its end")

    def _next_input(self, state: Any) -> Any:
        from langgraph.types import Command

        asked = [interrupt for task in state.tasks for interrupt in task.interrupts]
        if not asked:
            return None
        # By id, since of several questions only one may have been saved before the kill.
        return Command(resume={interrupt_id(one): self.answers[one.value] for one in asked})

    def _run(
        self,
        graph: Any,
        caller: Caller,
        config: Mapping[str, Any],
        how: Mapping[str, Any],
        given: Any,
    ) -> None:
        try:
            caller.call(graph, "invoke", given, config, **how)
        except ValueError as error:
            if str(error) != EXPECTED_FAILURE:
                raise


def thread_config(thread: str) -> dict[str, Any]:
    """The config of a thread."""
    return {"configurable": {"thread_id": thread}}


def outcome(graph: Any, caller: Caller, config: Mapping[str, Any]) -> dict[str, Any]:
    """The final state and the history as plain data, without what a kill may change.

    A task's writes may be lost when the next checkpoint was already saved, so they do not count.
    """
    state = plain_snapshot(caller.call(graph, "get_state", config))
    history = [
        {
            "values": plain(snapshot.values),
            "source": (snapshot.metadata or {}).get("source"),
            "step": (snapshot.metadata or {}).get("step"),
        }
        for snapshot in gathered(caller, graph, "get_state_history", config)
    ]
    return {"values": state["values"], "next": state["next"], "history": history}


# In "exit" mode there is nothing to go back to, what a failure leaves behind is saved or not, and
# the first checkpoint of a thread with a delta channel is an empty one that no run can resume from.
_SAVED_OFTEN = ("sync", "async")
_ALL = (
    Resumable("sequence", "sequence", {"log": ["in"]}),
    Resumable("branches", "branches", {"log": ["in"]}),
    Resumable("fan-out", "fan_out", {"parts": list(range(12))}),
    Resumable("loop", "cycle", {"left": 5}),
    Resumable(
        "question", "asking", {"log": ["in"]}, answers={"who?": "Ada"}, again=frozenset({"ask"})
    ),
    Resumable(
        "questions",
        "asking_abreast",
        {"log": ["in"]},
        answers={"left?": "L", "right?": "R"},
        again=frozenset({"left", "right"}),
    ),
    Resumable(
        "failure", "failing", {"log": ["in"]}, again=frozenset({"shaky"}), modes=_SAVED_OFTEN
    ),
    Resumable("retry", "retried", {"log": ["in"]}, again=frozenset({"shaky"})),
    Resumable("graph inside", "nested", {"log": ["in"]}),
    Resumable(
        "question inside",
        "nested_asking",
        {"log": ["in"]},
        answers={"who?": "Ada"},
        again=frozenset({"ask"}),
    ),
    Resumable(
        "update and fork",
        "sequence",
        {"log": ["in"]},
        updates=(Update({"log": ["by hand"]}, "first"), Update({"count": 7}, "second", at=1)),
        modes=_SAVED_OFTEN,
    ),
    Resumable(
        "delta channel",
        "delta",
        {"log": ["in"]},
        answers={"who?": "Ada"},
        again=frozenset({"ask"}),
        modes=_SAVED_OFTEN,
        wants=frozenset({DELTA}),
    ),
    Resumable("tasks", "errands", 4, answers={"go on?": "yes"}),
)


def resumables() -> tuple[Resumable, ...]:
    """Those that the installed LangGraph can run."""
    return tuple(one for one in _ALL if one.wants <= abilities())


def resumable(name: str) -> Resumable:
    """The one of that name.

    Raises:
        KeyError: there is none.
    """
    return {one.name: one for one in _ALL}[name]
