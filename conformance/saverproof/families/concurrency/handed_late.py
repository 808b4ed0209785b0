"""An event loop that takes some of what threads hand to it late.

A call that is bridged to a thread comes back by way of the loop. When it does is for the system to
say: other tasks may have finished whole calls by then. On an idle machine they hardly ever have.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import TypeVarTuple

from saverproof.families.concurrency.schedules import Pause, Pauses

Arguments = TypeVarTuple("Arguments")
_GLANCE_S = 0.0005
"""Seconds between two looks at whether a pause is over. Most calls take longer."""


class HandedLate(asyncio.SelectorEventLoop):
    """Makes the calls that other threads hand over when the pauses say. What its own thread hands
    over keeps its order: ``asyncio`` promises that.
    """

    def __init__(self, pauses: Pauses) -> None:
        super().__init__()
        self._pauses = pauses
        self._own = 0

    def run_forever(self) -> None:
        """Run until it is stopped."""
        self._own = threading.get_ident()
        super().run_forever()

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Make a call soon, or when its pause is over. Cancelling the handle in the pause is too
        late, as if the call had been made.
        """
        pause = None if threading.get_ident() == self._own else self._pauses.of_handed()
        if pause is None:
            return super().call_soon_threadsafe(callback, *args, context=context)
        late = partial(callback, *args)
        return super().call_soon_threadsafe(self._look, pause, late, context, context=context)

    def _look(self, pause: Pause, late: Callable[[], object], context: Context | None) -> None:
        if pause.is_over():
            late()
        else:
            self.call_later(_GLANCE_S, self._look, pause, late, context, context=context)
