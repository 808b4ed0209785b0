"""Find out whether a program still works in threads and tasks of its own, which nobody awaits.

A waiting task is at rest until something wakes it: a ready callback, a timer, a thread or a socket.
A thread is at rest while it sleeps in the kernel. A program that is at rest at several looks in a
row has settled.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

_STEP_S = 0.002
"""Seconds between two looks: other tasks and threads need a moment to move."""
_BESIDE_SOCKETS = 25
"""How many looks in a row must find the program at rest while a socket is open: its server may wake
a task at any moment, and nothing foretells that.
"""
_FOR_AN_ANSWER = 1_000
"""How many, while a task of the operation itself is not done, such as a request that goes on when
its caller was cancelled: a server that is busy, or writes to a disk, answers it a while later.
"""
_SOON_S = 0.25
"""Timers that are due later than this, in seconds, are habits of the program, such as a regular
clean-up, and not work.
"""
_SELF_PIPE = 1
"""How many files every event loop watches for itself."""


def at_rest(within_s: float = 0.5) -> bool:
    """Wait until no other thread of this process is at work.

    Returns:
        True if they came to rest, False if one was still at work after ``within_s`` seconds.
    """
    deadline = time.monotonic() + within_s
    others = [
        thread for thread in threading.enumerate() if thread is not threading.current_thread()
    ]
    before: tuple[Any, ...] | None = None
    while others and ((now := standing(others)) != before or any(map(is_running, others))):
        if time.monotonic() > deadline:
            return False
        before = now
        time.sleep(_STEP_S)
    return True


async def settled(
    threads: Collection[threading.Thread],
    deadline: float,
    begun: Collection["asyncio.Task[Any]"] = (),
) -> bool:
    """Wait until none of these threads, and no other task of this loop, is at work.

    Args:
        threads: those that may do the program's work.
        deadline: ``time.monotonic()`` at which to give up.
        begun: tasks that are likely to end, and no habit of the program.

    Returns:
        True if they came to rest, False if the deadline passed before.
    """
    loop = asyncio.get_running_loop()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if not others and not threads:
        return True
    before, rested = _positions(threads), 0
    while rested < _looks(loop, begun):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_STEP_S)
        now = _positions(threads)
        resting = now == before and not _is_awake(loop) and not any(map(is_running, threads))
        before, rested = now, rested + 1 if resting else 0
    return True


def _looks(loop: asyncio.AbstractEventLoop, begun: Collection["asyncio.Task[Any]"]) -> int:
    """Return how many looks in a row must find the program at rest, as it is now: a task may just
    have opened a socket, or gone on to read from one.
    """
    if len(asyncio.all_tasks()) == 1 or _watched_files(loop) <= _SELF_PIPE:
        return 1
    return _BESIDE_SOCKETS if all(task.done() for task in begun) else _FOR_AN_ANSWER


def _positions(threads: Collection[threading.Thread]) -> tuple[Any, ...]:
    """Return where each thread stands, and which tasks there are."""
    return (*standing(threads), frozenset(map(id, asyncio.all_tasks())))


def standing(threads: Collection[threading.Thread]) -> tuple[Any, ...]:
    """Return where each thread stands."""
    # The frame of this function is among these. A variable here that keeps them would be a cycle,
    # by which what is in the program's frames, such as its cursors, outlives its calls.
    return _places_of(threads, sys._current_frames())


def _places_of(
    threads: Collection[threading.Thread], frames: Mapping[int, FrameType]
) -> tuple[Any, ...]:
    standing = [(t.ident, frames.get(t.ident or 0)) for t in threads]
    return tuple((ident, id(f), f.f_lasti) for ident, f in standing if f is not None)


def _is_awake(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether the loop has something to do now or soon, without anything from outside."""
    soon = loop.time() + _SOON_S
    timers = (timer for timer in getattr(loop, "_scheduled", ()) if not timer.cancelled())
    return bool(getattr(loop, "_ready", ())) or any(timer.when() < soon for timer in timers)


def _watched_files(loop: asyncio.AbstractEventLoop) -> int:
    selector = getattr(loop, "_selector", None)
    watched = None if selector is None else selector.get_map()
    return _SELF_PIPE if watched is None else len(watched)


def is_running(thread: threading.Thread) -> bool:
    """Return whether a thread runs, or waits for a processor or a disk."""
    try:
        stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split(None, 1)[0] in "RD"
