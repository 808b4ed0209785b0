"""Makes an event loop that receives late some of what other threads hand over to it.

If a call of the async API is run in a thread, its answer comes back through the loop. The system
decides when it does; other tasks may have finished whole calls by then. On an idle machine that
hardly ever happens.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from saverproof.families.concurrency.callers.schedules import Pauses

_GLANCE_S = 0.0005
"""Seconds between two looks at whether a pause is over. Most calls take longer."""


def loop_handed_late(pauses: Pauses) -> asyncio.AbstractEventLoop:
    """Return a new event loop, of the kind that the saver's program has chosen. Other threads pause
    before they hand something over to it, if ``pauses`` says so.

    What one thread hands over keeps its order, as ``asyncio`` promises: the thread is just slow.
    """
    loop = asyncio.new_event_loop()
    hand_over = loop.call_soon_threadsafe
    own: list[int] = []
    loop.call_soon(lambda: own.append(threading.get_ident()))

    def hand_over_late(*call: Any, **options: Any) -> asyncio.Handle:
        pause = None if threading.get_ident() in own else pauses.of_handed()
        while pause is not None and not pause.is_over():
            time.sleep(_GLANCE_S)
        return hand_over(*call, **options)

    # Not in a subclass: the kind of loop is for the program to choose.
    loop.call_soon_threadsafe = hand_over_late  # type: ignore[assignment, method-assign]
    return loop
