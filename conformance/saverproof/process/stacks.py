"""The stacks of this process's threads."""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

from saverproof_faults.collecting import HELD_OFF, hold_off

_LONGEST_WALK_S = 1.0
"""Seconds for which no other thread takes over: a walk over all frames takes far less."""

Stack = tuple[tuple[CodeType, int], ...]
"""The code and the line of each frame, innermost first."""


def of_others() -> dict[int, Stack]:
    """Return the stack of each thread but the calling one, by thread ident."""
    own = threading.get_ident()
    with _alone():
        return {
            thread: tuple((found.f_code, found.f_lineno or 0) for found in _from(frame))
            for thread, frame in sys._current_frames().items()
            if thread != own
        }


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other threads from running within a block.

    Asking a frame for the one above it allocates an object. That may start the garbage collector,
    and a finalizer may let the frame's thread go on, so that the frame is gone. In CPython 3.11 its
    memory is then used for other things, and the process crashes.
    """
    interval_s = sys.getswitchinterval()
    hold_off()
    with HELD_OFF:
        sys.setswitchinterval(_LONGEST_WALK_S)
        try:
            yield
        finally:
            sys.setswitchinterval(interval_s)


def _from(frame: FrameType | None) -> Iterable[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
