"""Runs in a process in which graphs run, wait and go on while someone calls operations on whole
threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from langsmith.run_helpers import tracing_context

from saverproof.errors import describe
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.graphs import copies_by_hand
from saverproof.families.concurrency.graphs.calls_elsewhere import CallsElsewhere
from saverproof.families.concurrency.graphs.copied_graphs import Copied, ShownThread
from saverproof.families.concurrency.graphs.graph_calls import GraphCalls
from saverproof.families.concurrency.graphs.graph_differences import (
    COPY,
    PlayDifference,
    first_difference,
    first_error,
)
from saverproof.families.concurrency.graphs.graph_upkeep import (
    THREAD,
    UPKEEP_OF_GRAPHS,
    Call,
    GraphUpkeep,
    RunningPlayer,
    scenario,
)
from saverproof.families.concurrency.graphs.held_calls import Held, HeldCalls, UpkeepCalls
from saverproof.families.concurrency.graphs.resumed_copies import ResumedCopies
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.node_log import Notes
from saverproof.families.graph.normalise import without_ids
from saverproof.families.graph.runner import RESULT, STATE, WRITES, Observation
from saverproof.families.graph.scenarios import GraphScenario, maker
from saverproof.programs.steps.codec import encode
from saverproof.savers.targets.calling import Api, api_of
from saverproof_faults.kill import Acks

MODE = "async"
"""The durability of the graphs: LangGraph's default, which every release knows."""
PROBE_TASK = "00000000-0000-4000-8000-0000000000aa"
_ONE_MOMENT = "the thread as it was at one moment while it was copied"


@dataclass(frozen=True, slots=True)
class Beside:
    """The step of a graph beside which an operation is called, and how.

    The operation begins ``inside`` the first node of the step, or before the step, and is held at a
    place until the step is over. Without a place it is called between two steps and not held.
    """

    place: HoldPoint | None = None
    inside: bool = False


class NodeNotes(Notes):
    """Calls a function at the first node of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.on_first: Callable[[], object] | None = None

    def __call__(self, name: str) -> int:
        begin, self.on_first = self.on_first, None
        if begin is not None:
            begin()
        return super().__call__(name)


@dataclass(slots=True)
class GraphPlay:
    """The record of one play of a graph.

    ``overtaken`` counts the operations during which a whole step was answered. ``copies`` are the
    copies of the graph's thread, by the step beside which each was made. ``refused`` is the first
    step in which the saver refused a call, with the error. ``failed`` is the first step that raised
    although it does not raise without the operation, with its error.
    """

    seen: list[Observation] = field(default_factory=list)
    overtaken: int = 0
    copies: dict[int, tuple[str, Copied]] = field(default_factory=dict)
    refused: tuple[int, str] | None = None
    failed: tuple[int, str] | None = None

    @property
    def ended(self) -> tuple[int, str] | None:
        """The first step that was refused or failed, and its error. What follows need not be as it
        is without the operation.
        """
        return min(filter(None, [self.refused, self.failed]), default=None)

    def until_it_ended(self) -> GraphPlay:
        """Return the part of the play that can be compared."""
        if self.ended is None:
            return self
        end, _ = self.ended
        seen = [one for one in self.seen if one.position < end]
        copies = {at: copy for at, copy in self.copies.items() if at < end}
        return replace(self, seen=seen, copies=copies)


@dataclass(slots=True)
class TidiedGraphs:
    """Plays graphs on one saver, each on a thread of its own. The operations beside them are called
    by this process, or by another one at the ``meeting``.

    For each play, ``plays`` has its scenario, its place, whether the operation began inside a step,
    and how often a step overtook the operation. It also has the reason why the play was not
    compared to its end, and the difference from the play alone; each may be None. ``raised`` is
    what operations and steps raised.
    """

    scene: ScenePart
    upkeep: GraphUpkeep
    names: tuple[str, ...]
    most: int
    meeting: Path | None = None
    plays: list[dict[str, Any]] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    steady: bool = True
    at_rest: PlayDifference | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _calls: GraphCalls = field(default_factory=GraphCalls)
    _saver: Any = None
    _api: Api = field(init=False)
    _held: UpkeepCalls = field(init=False)

    def play(self) -> None:
        """Play every scenario alone. Then play it with the operation held at each place, until a
        play differs.
        """
        with ExitStack() as stack:
            self._saver = stack.enter_context(self.scene.saver())
            stack.enter_context(tracing_context(enabled=False))
            self._calls.watch(self._saver, self.scene.api)
            own = stack.enter_context(HeldCalls.of(self.scene, self._saver))
            self._api, self._held = own.api, own
            if self.meeting is not None:
                self._held = stack.enter_context(CallsElsewhere.of(own, self.meeting))
            self.raised = self._held.raised
            self._play_all([scenario(name) for name in self.names])

    def _play_all(self, scenarios: list[GraphScenario]) -> None:
        alone = {one.name: self._played(one).seen for one in scenarios}
        places = self._places(scenarios[0])
        # A node on the event loop's own thread cannot wait until a call is held.
        ways = (False, True) if self.scene.api == "sync" else (False,)
        for place in places:
            for one in scenarios:
                for inside in ways:
                    found = self._differs(one, Beside(place, inside), alone[one.name])
                    if found is not None:
                        self._look_again(one, alone[one.name], found)
                        return

    def _differs(
        self, one: GraphScenario, beside: Beside, alone: list[Observation]
    ) -> PlayDifference | None:
        played = self._played_beside(one, beside, alone)
        difference = self._difference(one, alone, played)
        error = played.ended[1] if played.ended else None
        if difference is not None and difference.raised:
            # Nothing runs beside a graph on a copy, but even so a connection may be lost once.
            again = self._difference(one, alone, self._played_beside(one, beside, alone))
            error = difference.observed if again is None else error
            difference = again
        if error is not None:
            self.raised.append(f"graph: {error}"[:120])
        self.plays.append(
            {
                "scenario": one.name,
                "place": encode(beside.place),
                "inside": beside.inside,
                "overtaken": played.overtaken,
                "refused": error,
                "difference": encode(difference),
            }
        )
        self.scene.progress.tick()
        return difference

    def _look_again(
        self, one: GraphScenario, alone: list[Observation], found: PlayDifference
    ) -> None:
        """Find out whether the play also differs without the operation, or if the operation is over
        before each step.
        """
        self.steady = first_difference(alone, self._played(one).seen) is None
        self.at_rest = (
            found
            if found.at_rest
            else self._difference(one, alone, self._played_beside(one, Beside(), alone))
        )

    # --- one play --------------------------------------------------------------------------

    def _played(self, one: GraphScenario, beside: Beside | None = None) -> GraphPlay:
        player, notes = self._player(one.graph), NodeNotes()
        player.notes = notes
        begun: list[tuple[Held, int]] = []
        played = GraphPlay()
        steps = self.upkeep.steps(one, inside=beside.inside) if beside else range(0)
        step_began, other = 0, ""

        def begin() -> None:
            assert beside is not None
            began = next(self._calls.clock)
            begun.append((self._held.hold(self._call(player, other), beside.place), began))

        def on_step(position: int) -> None:
            nonlocal step_began, other
            player.run = self.upkeep.run_of(position)
            step_began = next(self._calls.clock)
            if position not in steps or beside is None:
                return
            other = self._other(player, one, position)
            if beside.inside:
                notes.on_first = begin
            else:
                begin()

        player.on_step = on_step
        for observation in player.play(one.program):
            if observation.kind == RESULT:
                notes.on_first = None
                for held, began in begun:
                    returned = held.let_go()
                    # Of an operation that raised, nothing is known except that it may raise.
                    played.overtaken += held.overtaken and returned
                    if returned and self.upkeep.kind is OperationKind.COPY:
                        copied = self._copied(player, other, began, step_began)
                        played.copies[observation.position] = (other, copied)
                begun.clear()
                error = self._calls.refused(player.prefix + THREAD)
                if error is not None and played.refused is None:
                    played.refused = observation.position, error
            played.seen.append(observation)
        return played

    def _played_beside(
        self, one: GraphScenario, beside: Beside, alone: list[Observation]
    ) -> GraphPlay:
        played = self._played(one, beside)
        played.failed = first_error(alone, played.seen)
        return played

    def _player(self, graph: str, prefix: str = "") -> RunningPlayer:
        own = self.scene.ids.thread("") if self.scene.ids else ""
        return RunningPlayer(
            maker(graph, self.scene.api),
            self._saver,
            api_of(self.scene.api, self.scene.loop),
            how=durability_modes()[MODE],
            prefix=prefix or f"{own}graph-{next(self._numbers)}-",
            deep=False,
            looks=(STATE, WRITES),
        )

    def _call(self, player: RunningPlayer, other: str) -> Call:
        return self.upkeep.call(player.prefix + THREAD, other + THREAD)

    def _other(self, player: RunningPlayer, one: GraphScenario, position: int) -> str:
        """Return the prefix of the thread that is deleted, or copied to, beside a step."""
        if self.upkeep.kind is not OperationKind.DELETE:
            return f"{player.prefix}copy-{position}-"
        other = self._player(one.graph)
        for _ in other.play(one.program[:1]):
            pass
        return other.prefix

    # --- what differs ----------------------------------------------------------------------

    def _difference(
        self, one: GraphScenario, alone: list[Observation], played: GraphPlay
    ) -> PlayDifference | None:
        """Return the first difference in the part of a play before its first error."""
        played = played.until_it_ended()
        if found := first_difference(alone, played.seen):
            return found
        for position, (_, copied) in played.copies.items():
            if copied.unread:
                read = "a copy and its source that can be read"
                return PlayDifference(position, STATE, "", read, copied.unread, COPY, raised=True)
            if flaw := copied.flaw():
                return PlayDifference(position, STATE, "", _ONE_MOMENT, flaw, COPY)
        player = partial(self._player, one.graph)
        return ResumedCopies(one, alone, player, self._calls).difference(played.copies)

    def _copied(self, player: RunningPlayer, other: str, began: int, step_began: int) -> Copied:
        """Return a thread and its copy, as the saver shows them once nothing else runs."""
        thread = player.prefix + THREAD
        calls = list(self._calls.of[thread])
        spaces = dict.fromkeys(call.at[0] for call in calls)
        try:
            original, copy = (
                copies_by_hand.shown(self._api, self._saver, name, spaces)
                for name in (thread, other + THREAD)
            )
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            nothing = ShownThread.of(())
            unread = without_ids(describe(error))
            return Copied(began, step_began, calls, nothing, nothing, unread)
        return Copied(began, step_began, calls, original, copy)

    # --- places ----------------------------------------------------------------------------

    def _places(self, one: GraphScenario) -> list[HoldPoint]:
        """Return the places of the operation at which writes to a waiting graph's thread are
        answered.
        """
        player = self._player(one.graph)
        begun = max(2, self.upkeep.steps(one, inside=False).start)

        def on_step(position: int) -> None:
            player.run = self.upkeep.run_of(position)

        player.on_step = on_step
        for _ in player.play(one.program[:begun]):
            pass
        config = {"configurable": {"thread_id": player.prefix + THREAD, "checkpoint_ns": ""}}
        found = player.api.call(self._saver, "get_tuple", config)
        if found is None:
            return []
        write = ("put_writes", found.config, [("probe", 1)], PROBE_TASK)
        call = self._call(player, self._other(player, one, 1))
        return self._held.free_places(call, write, self.most)


def play(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Play the graphs of these names beside the operation; see :class:`TidiedGraphs`."""
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    upkeep = UPKEEP_OF_GRAPHS[OperationKind(arguments["kind"])]
    meeting = Path(arguments["meeting"]) if "meeting" in arguments else None
    names = tuple(arguments["scenarios"])
    graphs = TidiedGraphs(scene, upkeep, names, arguments["most"], meeting)
    played = scene.played(graphs.play)
    return {
        "plays": list(graphs.plays),
        "raised": list(graphs.raised),
        "steady": graphs.steady,
        "at_rest": encode(graphs.at_rest),
        "trouble": played["trouble"],
        "standstill": played["standstill"],
    }
