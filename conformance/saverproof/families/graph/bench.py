"""Plays scenarios on the saver under test and on InMemorySaver."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from saverproof.capability import Capability
from saverproof.families.graph.comparing import GraphComparison, compare
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.runner import HISTORY, STATE, WRITES, Observation, Player
from saverproof.families.graph.scenarios import GraphScenario, maker
from saverproof.families.graph.steps import GraphStep
from saverproof.families.graph.storing import Refusals, watch
from saverproof.families.items import ItemPlan
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.calling import api_of
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.target import Target

_DELAYS_S = (0.0, 0.0, 0.002, 0.02)
"""Seconds that a slow saver takes for an operation: mostly none, sometimes as long as a disk."""
_OTHER_RUNS = 4
"""How many more runs on InMemorySaver are made before a difference counts: one fast, the others
slowed down.
"""


@dataclass(frozen=True, slots=True)
class Play:
    """A scenario in one durability mode."""

    scenario: GraphScenario
    mode: str

    def of(self, program: tuple[GraphStep, ...]) -> Play:
        """Return this play with another program."""
        return replace(self, scenario=replace(self.scenario, program=program))


@dataclass(slots=True)
class GraphBench:
    """The common part of all plays of an item: one API, the target, and InMemorySaver beside it."""

    target: Target
    plan: ItemPlan
    loop: Loop
    on_step: Callable[[Play, int], None] = lambda play, position: None
    """Called before each step on the saver under test, with the play and the step's position."""
    calls: int = 0
    seconds: float = 0.0
    _numbers: Iterator[int] = field(default_factory=count)
    _own: str = ""
    """The prefix of thread ids, if the store may hold threads of an earlier run; else ""."""

    def __post_init__(self) -> None:
        if self.target.ref is not None and self.target.ref.shares_store:
            self._own = f"{secrets.token_hex(6)}-"

    @property
    def deep(self) -> bool:
        """True if the saver keeps older checkpoints."""
        return Capability.HISTORY in self.plan.facts["capabilities"]

    @property
    def looks(self) -> tuple[str, ...]:
        """The kinds of looks that are taken after each step.

        Without early writes there is only the state: any of the writes that make up a history may
        be lost, whatever the durability mode.
        """
        early = Capability.EARLY_WRITES in self.plan.facts["capabilities"]
        return (STATE, HISTORY, WRITES) if early else (STATE,)

    def store(self) -> AbstractContextManager[Store]:
        """Open the target in a workspace of its own for the length of a block."""
        return Store(self.target, Path(self.plan.folder), self.loop, (self.plan.api,))

    def expected(self, play: Play) -> list[Observation]:
        """Return what a play shows on InMemorySaver."""
        return list(self._player(play, InMemorySaver()).play(play.scenario.program))

    def compared(self, play: Play, expected: list[Observation], saver: Any) -> GraphComparison:
        """Play on ``saver``, with threads of the play's own, and compare it with what was
        expected.
        """
        player = self._player(play, saver)
        player.on_step = partial(self.on_step, play)
        program = play.scenario.program
        try:
            return compare(play.scenario, expected, player.play(program))
        finally:
            self.calls += player.calls
            self.seconds += player.seconds

    def played_on(self, saver: Any, play: Play, expected: list[Observation]) -> GraphComparison:
        """Play on a given saver, and compare with what was expected."""
        return compare(
            play.scenario, expected, self._player(play, saver).play(play.scenario.program)
        )

    def alone(self, play: Play) -> GraphComparison:
        """Play on InMemorySaver and on a saver opened for this play alone, and compare them."""
        expected = self.expected(play)
        with self.store() as store:
            return self.compared(play, expected, store.saver)

    def refused(self, play: Play) -> str:
        """Return, in words, the first call that a saver opened for this play alone refuses; "" if
        it refuses none.
        """
        refusals = Refusals()
        with self.store() as store:
            watch(store.saver, self.plan.api, refusals.around)
            self.compared(play, self.expected(play), store.saver)
        return next(iter(refusals.told), "")

    def unsteady(self, play: Play, expected: list[Observation], until: int) -> bool:
        """Return whether InMemorySaver, fast or slow, itself varies in the first ``until`` steps.

        If it varies, nothing can be said of another saver.
        """
        program = play.scenario.program[:until]
        for number in range(_OTHER_RUNS):
            saver = SlowMemory(number) if number else InMemorySaver()
            again = self._player(play, saver).play(program)
            if compare(play.scenario, expected, again).differences:
                return True
        return False

    def _player(self, play: Play, saver: Any) -> Player:
        return Player(
            maker(play.scenario.graph, self.plan.api),
            saver,
            api_of(self.plan.api, self.loop),
            how=durability_modes()[play.mode],
            prefix=f"{self._own}graph-{next(self._numbers)}-",
            deep=self.deep,
            looks=self.looks,
        )


class SlowMemory(InMemorySaver):
    """An InMemorySaver that waits for random times, as savers on disks do."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._choose = random.Random(seed)

    def _delay_s(self) -> float:
        return self._choose.choice(_DELAYS_S)

    def put(self, *arguments: Any, **named: Any) -> Any:
        time.sleep(self._delay_s())
        return super().put(*arguments, **named)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        time.sleep(self._delay_s())
        super().put_writes(config, writes, task_id, task_path)

    async def aput(self, *arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(self._delay_s())
        return super().put(*arguments, **named)

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        await asyncio.sleep(self._delay_s())
        super().put_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config: Any) -> Any:
        await asyncio.sleep(self._delay_s())
        return super().get_tuple(config)
