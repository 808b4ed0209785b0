"""Tells a wait that is for ever from one that takes long, on a machine however busy.

A wait is for ever where nothing in this process moves: each thread stays in its line, none has used
any processor time to speak of, and none is ready to run or waits for a disk. A thread that only is
not given a processor is ready to run, so that load alone never looks like a standstill.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from saverproof.process import stacks

BUSY = 0.1
"""Which part of the time a thread may be at work in a process that stands still: a wait that looks
up now and then, as SQLite's for a lock does, is one all the same.
"""
_AT_WORK = frozenset("RD")
"""The states of a thread, as Linux calls them, that will end by themselves."""

Alive = Callable[[], object]
_POLL_S = 0.02


@dataclass(slots=True)
class MovementWatch:
    """Looks, every few moments, whether anything but the thread that looks moves.

    ``still_s`` says for how many seconds nothing has moved, ``total_s`` for how long it was looked;
    ``but`` are threads that do not count.
    """

    still_s: float = 0.0
    total_s: float = 0.0
    but: frozenset[int] = frozenset()
    _last: tuple[int, dict[int, stacks.Stack]] | None = None
    _at_work_s: float = 0.0
    _used_s: float = 0.0

    def look(self, waited_s: float, answers: int = 0) -> None:
        """Look once more, so long after the last time; ``answers`` grows with what is done."""
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
        """Whether nothing has moved for so long, and nothing will."""
        used_s = _used_by_others_s() - self._used_s
        return self.still_s >= patience_s and max(used_s, self._at_work_s) < BUSY * self.still_s


def ends(thread: threading.Thread, patience_s: float, limit_s: float, alive: Alive) -> bool | None:
    """Start a thread, and say whether it comes to its end: False where nothing has moved for so
    long as the patience lasts, None where it was at work for ``limit_s``. ``alive`` is called while
    it is waited for.

    What hangs stays behind with all that it started; when the next one is waited for, that it
    looks up now and then is no movement.
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
    """Processor time of all threads but this one, which has many to look at in some processes."""
    return time.process_time() - time.thread_time()


def any_at_work(process: int | None = None) -> bool:
    """Whether some thread of a process runs, could run or waits for a disk; False where none can
    tell. Without a process it is this one, but for the thread that asks.
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
