"""Where the threads of this process stand, by the frames of each."""

import gc
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

_LONGEST_WALK_S = 1.0

Stack = tuple[tuple[CodeType, int], ...]
"""The code and the line of each frame, the innermost first."""


def of_others() -> dict[int, Stack]:
    """The stack of each thread but this one, by its ident."""
    own = threading.get_ident()
    with _alone():
        return {
            thread: tuple((found.f_code, found.f_lineno or 0) for found in _from(frame))
            for thread, frame in sys._current_frames().items()
            if thread != own
        }


@contextmanager
def _alone() -> Iterator[None]:
    """No other thread takes over in the block.

    To ask for the frame above one makes an object of it; if that lets the collector run, and what
    it finalizes lets the thread go on whose frame it is, the frame may be gone by then: in CPython
    3.11 the object is of memory that is used anew, and the process ends with a signal.
    """
    interval_s, collects = sys.getswitchinterval(), gc.isenabled()
    gc.disable()
    sys.setswitchinterval(_LONGEST_WALK_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        if collects:
            gc.enable()


def _from(frame: FrameType | None) -> Iterable[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
