"""The scene of a sync call on the thread of a running event loop: the call must not wait for that
loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import parity
from saverproof.errors import OpeningError
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact, Raised
from saverproof.judging.scenes.scene import Scene
from saverproof.process import heartbeat
from saverproof.process.standstill import ends
from saverproof.programs.model.store import Model
from saverproof.programs.operations import OPERATIONS
from saverproof.programs.steps.definitions import Step
from saverproof.programs.steps.describing import call, checkpoint, text
from saverproof.programs.theme import Theme
from saverproof.savers.execution.settled_calls import Calls, perform
from saverproof.savers.execution.store import Store
from saverproof.savers.execution.versions import versions_of
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.statements import lines_of
from saverproof.scripts.writer import ScriptWriter

ON_THE_LOOP = ("get_tuple", "list", "delete_thread", "put", "put_writes")
PATIENCE_S = 5.0
"""Seconds without any progress after which a sync call counts as waiting for its own event loop."""
_AT_MOST = 6
"""How many times ``PATIENCE_S`` a call may take as long as it makes progress."""


_HANG = Fact(facts.HANG, "the call never returns")


@dataclass(frozen=True, slots=True)
class CallOnLoop(Scene):
    """A sync call on the thread of a running event loop."""

    operation: str
    thread: str
    number: int | None = None

    about: ClassVar[Contract] = parity.NO_EVENT_LOOP_HANG

    @property
    def contract(self) -> Contract:
        writes = self.operation in ("put", "put_writes")
        return parity.NO_EVENT_LOOP_HANG_IN_WRITES if writes else self.about

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> CallOnLoop:
        """Make a sync call on the thread of a running event loop."""
        del model
        return CallOnLoop(choose.choice(ON_THE_LOOP), choose.choice(theme.threads), 1)

    def words(self) -> str:
        number = "" if self.number is None else checkpoint(self.number)
        made = call(self.operation, text(self.thread), number)
        return f"{made} on the thread of a running event loop"

    @property
    def _step(self) -> Step:
        step: Any = OPERATIONS[self.operation]
        called: Step = replace(step, thread=self.thread)
        return called

    # --- on the saver ------------------------------------------------------------------------

    def play(self, context: Context) -> None:
        outcome: list[Raised | None] = []
        worker = threading.Thread(target=lambda: outcome.append(self._call(context)), daemon=True)
        alive = partial(heartbeat.beat, len(context.taken))
        over = ends(worker, PATIENCE_S, _AT_MOST * PATIENCE_S, alive)
        if over is None:
            # At work for so long: nothing is known of it.
            return
        if not over:
            expected = f"{self.operation} to answer or raise"
            observed = f"no answer within {PATIENCE_S:g} s"
            context.facts.by(self).differ(_HANG, None, expected, observed)
        elif outcome[0] is None:
            context.facts.agree(self.contract)
        elif isinstance(outcome[0].error, OpeningError):
            context.facts.differ(facts.RAISED, None, "a second workspace", outcome[0])
        else:
            context.facts.differ(facts.VERSION_RAISED, None, "a version", outcome[0])

    def _call(self, context: Context) -> Raised | None:
        """Open a store on a new event loop and call the saver there.

        Return None, or a :class:`Raised` that says why the call was never made.
        """
        own = context.store

        async def on_the_loop(called: Callable[[], Any]) -> None:
            with suppress(Exception):  # to raise is a right answer here
                called()

        try:
            with EventLoop() as loop, Store(own.target, own.folder, loop, ("sync",)) as store:
                (settled,) = Calls(versions_of(store.saver)).settle([self._step])
                loop.run(on_the_loop(partial(perform, store.drivers[0], settled)))
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            return Raised(error)
        return None

    # --- in scripts --------------------------------------------------------------------------

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write a script whose own thread waits for the thread whose event loop makes the call."""
        writer.patience_s = PATIENCE_S
        calls, writer.calls = writer.calls, CallSource("sync", managed=False)
        lines = lines_of(self._step, writer)
        writer.calls = calls
        writer.say("called.append(True)", "with contextlib.suppress(Exception):", *indented(lines))
