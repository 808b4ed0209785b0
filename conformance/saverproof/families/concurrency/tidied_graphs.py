"""What runs in the process in which graphs run, wait and go on while their thread is pruned."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from langsmith.run_helpers import tracing_context

from saverproof.families.concurrency.child import Scene
from saverproof.families.concurrency.holding import Holding, Place, Places, Probing, chosen
from saverproof.families.concurrency.schedules import UPKEEP, Schedule
from saverproof.families.graph.comparing import narrowed
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.node_log import Notes
from saverproof.families.graph.runner import RESULT, STATE, WRITES, Observation, Player
from saverproof.families.graph.scenarios import GraphScenario, maker, scenario
from saverproof.programs.steps.codec import encode
from saverproof.programs.values import same, show
from saverproof.savers.targets.calling import api_of
from saverproof_faults.kill import Acks

MODE = "async"
"""As graphs save unless they are told otherwise; every release of LangGraph knows it."""
PROBE_TASK = "00000000-0000-4000-8000-0000000000aa"
_THREAD = "a"
_WIDTH = 600


@dataclass(frozen=True, slots=True)
class Beside:
    """How a play differs from one that nobody disturbs.

    A prune begins ``inside`` the first node of a step, or before the step, and is held at a place
    until the step is over. Without a place it is whole, and between two steps.
    """

    place: Place | None = None
    inside: bool = False


class NodeNotes(Notes):
    """Notes that tell of the first node of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.on_first: Callable[[], object] | None = None

    def __call__(self, name: str) -> int:
        begin, self.on_first = self.on_first, None
        if begin is not None:
            begin()
        return super().__call__(name)


@dataclass(slots=True)
class TidiedGraphs:
    """Plays of graphs on one saver, each on a thread of its own.

    ``plays`` has for each its scenario, place, whether it was inside, how often the prune was
    overtaken by a step, and what differed from the play alone: position, kind, path, expected and
    observed, or None. ``raised`` are the prunes that did.
    """

    scene: Scene
    names: tuple[str, ...]
    most: int
    places: Places = field(default_factory=Places)
    plays: list[dict[str, Any]] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    steady: bool = True
    at_rest: list[Any] | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _saver: Any = None
    _tracer: Any = None
    _pool: concurrent.futures.ThreadPoolExecutor = field(init=False)

    def play(self) -> None:
        """Play every scenario alone, then at places until one comes out otherwise."""
        with self.scene.saver() as saver, tracing_context(enabled=False):
            self._saver = saver
            self._tracer = self.places.tracer(saver)
            if self.scene.api == "async":
                # Any of the threads that the loop starts may be the one in which a prune runs.
                threading.settrace(self._tracer)
            self._pool = concurrent.futures.ThreadPoolExecutor(2, "upkeep")
            with self._pool:
                self._play_all([scenario(name) for name in self.names])

    def _play_all(self, scenarios: list[GraphScenario]) -> None:
        alone = {one.name: self._played(one) for one in scenarios}
        found = self._places(scenarios[0])
        # A node on the event loop's own thread cannot wait until a prune is held.
        ways = (False, True) if self.scene.api == "sync" else (False,)
        for place in found:
            for one in scenarios:
                for inside in ways:
                    if self._differs(one, Beside(place, inside), alone[one.name]):
                        self._look_again(one, alone[one.name])
                        return

    def _differs(self, one: GraphScenario, beside: Beside, alone: list[Observation]) -> bool:
        overtaken = 0

        def count_overtaken(held: Holding) -> None:
            nonlocal overtaken
            overtaken += held.overtaken

        seen = self._played(one, beside, count_overtaken)
        difference = first_difference(alone, seen)
        self.plays.append(
            {
                "scenario": one.name,
                "place": encode(beside.place),
                "inside": beside.inside,
                "overtaken": overtaken,
                "difference": difference,
            }
        )
        self.scene.progress.tick()
        return difference is not None

    def _look_again(self, one: GraphScenario, alone: list[Observation]) -> None:
        """Whether it comes out otherwise by itself, or where a prune is over before each step."""
        self.steady = first_difference(alone, self._played(one)) is None
        self.at_rest = first_difference(alone, self._played(one, Beside()))

    # --- one play --------------------------------------------------------------------------

    def _played(
        self,
        one: GraphScenario,
        beside: Beside | None = None,
        tell: Callable[[Holding], object] = lambda held: None,
    ) -> list[Observation]:
        player, notes = self._player(one.graph), NodeNotes()
        player.notes = notes
        held: list[tuple[Holding, concurrent.futures.Future[Any]]] = []
        seen: list[Observation] = []

        def begin() -> None:
            assert beside is not None
            holding = Holding(beside.place)
            held.append((holding, self._prune(player, holding)))
            holding.come.wait()

        def on_step(position: int) -> None:
            if beside is not None and beside.inside:
                notes.on_first = begin
            elif beside is not None:
                begin()

        player.on_step = on_step
        for observation in player.play(one.program):
            if observation.kind == RESULT:
                notes.on_first = None
                for holding, pruned in held:
                    holding.let_go.set()
                    concurrent.futures.wait([pruned])
                    tell(holding)
                held.clear()
            seen.append(observation)
        return seen

    def _player(self, graph: str) -> Player:
        own = self.scene.ids.thread("") if self.scene.ids else ""
        return Player(
            maker(graph, self.scene.api),
            self._saver,
            api_of(self.scene.api, self.scene.loop),
            how=durability_modes()[MODE],
            prefix=f"{own}graph-{next(self._numbers)}-",
            deep=False,
            looks=(STATE, WRITES),
        )

    def _prune(self, player: Player, doing: Holding | Probing) -> concurrent.futures.Future[Any]:
        """Begin to prune the thread of a graph; what it raises is advice, to call it again."""
        self.places.begin(doing)
        threads = [player.prefix + _THREAD]
        api = player.api

        def over() -> None:
            self.places.doing = None
            if isinstance(doing, Holding):
                doing.come.set()

        def prune() -> None:
            UPKEEP.set(True)
            sys.settrace(self._tracer)
            try:
                api.call(self._saver, "prune", threads, strategy="keep_latest")
            except Exception as error:  # noqa: BLE001 - a saver may raise anything
                self.raised.append(repr(error)[:120])
            finally:
                sys.settrace(None)
                UPKEEP.set(False)
                over()

        async def await_prune() -> None:
            UPKEEP.set(True)
            try:
                call = api.ask(self._saver, "prune", threads, strategy="keep_latest")
                await self.places.awaited(call)
            except Exception as error:  # noqa: BLE001 - a saver may raise anything
                self.raised.append(repr(error)[:120])
            finally:
                over()

        if self.scene.api == "sync":
            return self._pool.submit(prune)
        return asyncio.run_coroutine_threadsafe(await_prune(), self.scene.loop.loop)

    # --- places ----------------------------------------------------------------------------

    def _places(self, one: GraphScenario) -> list[Place]:
        """Where a prune of a graph that waits can be overtaken by writes to its thread."""
        player = self._player(one.graph)
        steps = player.play(one.program[:2])
        for _ in steps:
            pass
        config = {"configurable": {"thread_id": player.prefix + _THREAD, "checkpoint_ns": ""}}
        found = player.api.call(self._saver, "get_tuple", config)
        if found is None:
            return []

        call = (self._saver, "put_writes", found.config, [("probe", 1)], PROBE_TASK)

        async def await_write() -> None:
            # It is begun from within the call, whose context it has.
            UPKEEP.set(False)
            await player.api.ask(*call)

        def write() -> concurrent.futures.Future[Any]:
            if self.scene.api == "sync":
                return self._pool.submit(player.api.call, *call)
            return asyncio.run_coroutine_threadsafe(await_write(), self.scene.loop.loop)

        probing = Probing(write)
        concurrent.futures.wait([self._prune(player, probing)])
        probing.end()
        return chosen(probing.free, self.most)


def first_difference(alone: list[Observation], seen: list[Observation]) -> list[Any] | None:
    """Position, kind and path of what differs first, and both in words.

    A step that raised says nothing: a lock that is held may have its time. What is lost shows when
    all is quiet.
    """
    for wanted, found in zip(alone, seen, strict=False):
        if not same(wanted.value, found.value):
            if found.kind == RESULT and isinstance(found.value, dict) and "raised" in found.value:
                return None
            path, *both = narrowed("", wanted.value, found.value)
            return [wanted.position, wanted.kind, path, *(show(one, _WIDTH) for one in both)]
    return None


def play(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Play graphs of these names while their threads are pruned; see :class:`TidiedGraphs`."""
    scene = Scene({**arguments, "schedule": encode(Schedule(""))})
    graphs = TidiedGraphs(scene, tuple(arguments["scenarios"]), arguments["most"])
    played = scene.played(graphs.play)
    return {
        "plays": list(graphs.plays),
        "raised": list(graphs.raised),
        "steady": graphs.steady,
        "at_rest": graphs.at_rest,
        "trouble": played["trouble"],
        "standstill": played["standstill"],
    }
