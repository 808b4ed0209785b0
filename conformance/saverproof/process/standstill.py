"""Tell a wait that never ends from one that takes long, even on a busy machine.

A wait never ends if nothing in this process moves: each thread stays in its line, the threads use
hardly any processor time, and none is ready to run or waits for a disk. A thread that waits only
for a processor is ready to run, so load alone never looks like a standstill.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from saverproof.process import stacks

BUSY = 0.1
"""Share of the time that threads may be at work although the process stands still. A wait that
wakes up now and then, as SQLite's wait for a lock does, is a standstill.
"""
_AT_WORK = frozenset("RD")
"""The states of a thread, as Linux names them, that end by themselves: running, or waiting for a
disk.
"""

Alive = Callable[[], object]
_POLL_S = 0.02
"""Seconds between two looks at a thread that is waited for: far less than any patience."""


@dataclass(slots=True)
class MovementWatch:
    """A watch that looks every few moments whether any other thread of this process moves.

    ``still_s`` counts the seconds for which nothing has moved, ``total_s`` all seconds. Threads
    whose idents are in ``but`` do not count.
    """

    still_s: float = 0.0
    total_s: float = 0.0
    but: frozenset[int] = frozenset()
    _last: tuple[int, dict[int, stacks.Stack]] | None = None
    _at_work_s: float = 0.0
    _used_s: float = 0.0

    def look(self, waited_s: float, answers: int = 0) -> None:
        """Look once more, ``waited_s`` seconds after the last look.

        ``answers`` is any count that grows while work is done.
        """
        self.total_s += waited_s
        standing = stacks.of_others()
        now = (answers, {thread: standing[thread] for thread in standing.keys() - self.but})
        if now != self._last:
            self._last, self._used_s = now, _used_by_others_s()
            self.still_s = self._at_work_s = 0.0
            return
        self.still_s += waited_s
        if any_at_work():
            self._at_work_s += waited_s

    def for_ever(self, patience_s: float) -> bool:
        """Return whether nothing has moved for ``patience_s`` seconds: then nothing ever will."""
        used_s = _used_by_others_s() - self._used_s
        return self.still_s >= patience_s and max(used_s, self._at_work_s) < BUSY * self.still_s


def ends(thread: threading.Thread, patience_s: float, limit_s: float, alive: Alive) -> bool | None:
    """Start a thread, and return whether it ends.

    The result is False if nothing moves for ``patience_s`` seconds, and None if the thread is still
    at work after ``limit_s``. ``alive`` is called repeatedly during the wait.

    A thread that hangs is left behind with all that it started. What those threads do while a later
    thread is waited for does not count as movement.
    """
    before, used_s = stacks.of_others().keys(), _used_by_others_s()
    thread.start()
    movement = MovementWatch(but=frozenset(_GIVEN_UP))
    while True:
        began = time.monotonic()
        thread.join(_POLL_S)
        if not thread.is_alive():
            return True
        alive()
        # If this process was itself suspended, so was the thread: no single wait counts for much.
        movement.look(min(time.monotonic() - began, 5 * _POLL_S))
        late = movement.total_s >= limit_s
        if late and _used_by_others_s() - used_s >= BUSY * movement.total_s:
            return None
        # On a busy machine, one that only looks up now and then is often seen ready to run.
        if late or movement.for_ever(patience_s):
            _GIVEN_UP.update(stacks.of_others().keys() - before)
            return False


_GIVEN_UP: set[int] = set()


def _used_by_others_s() -> float:
    """Return the processor time of all threads but this one, in seconds.

    This thread's own share, spent on looking at many threads, would look like movement.
    """
    return time.process_time() - time.thread_time()


def any_at_work(process: int | None = None) -> bool:
    """Return whether a thread of a process runs, could run or waits for a disk.

    Without ``process`` it is this process, without the calling thread. The result is False where
    the system does not tell.
    """
    return not _AT_WORK.isdisjoint(_states(process))


def _states(process: int | None) -> Iterator[str]:
    own = threading.get_native_id() if process is None else None
    tasks = f"/proc/{process or 'self'}/task"
    try:
        threads = os.listdir(tasks)
    except OSError:
        return
    for thread in threads:
        if thread == str(own):
            continue
        try:
            with open(f"{tasks}/{thread}/stat", encoding="utf-8", errors="replace") as stat:
                # The name before it is in brackets, and may have anything in it.
                yield stat.read().rpartition(")")[2].split()[0]
        except OSError:
            continue  # It has ended.
