"""An event loop to which threads hand some of what they hand to it late.

A call that is bridged to a thread comes back by way of the loop. When it does is for the system to
say: other tasks may have finished whole calls by then. On an idle machine they hardly ever have.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

from saverproof.families.concurrency.schedules import Pauses

Arguments = TypeVarTuple("Arguments")
_GLANCE_S = 0.0005
"""Seconds between two looks at whether a pause is over. Most calls take longer."""


class HandedLate(asyncio.SelectorEventLoop):
    """Has other threads pause before they hand something over.

    All that was handed over keeps its order: ``asyncio`` promises that. The thread is just slow.
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
        """Pause, if this is another thread and the pauses say so, and hand a call over."""
        pause = None if threading.get_ident() == self._own else self._pauses.of_handed()
        while pause is not None and not pause.is_over():
            time.sleep(_GLANCE_S)
        return super().call_soon_threadsafe(callback, *args, context=context)
