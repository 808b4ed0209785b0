"""Schedules: how often, and where, threads are made to take turns."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType, ModuleType
from typing import Any, TypeVar

from saverproof_faults.interceptor import INTERCEPTORS, Interceptor
from saverproof_faults.kinds import Event
from saverproof_faults.known_drivers import KNOWN_DRIVERS
from saverproof_faults.places import Method

Result = TypeVar("Result")
Tracer = Callable[[FrameType, str, Any], Any]

_NAP_S = 0.0002
_LONGEST_S = 1.0
"""The longest pause of a thread in seconds, if other threads could run: on a busy machine they may
start late.
"""
_OVERTAKE = 3
"""Up to how many calls are answered before a thread hands something to a loop."""


UPKEEP = ContextVar("UPKEEP", default=False)
"""True if the current call is an operation on a whole thread, or on the whole store."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The way in which a history's threads take turns.

    ``switch_s`` is the interpreter's switch interval. At a share of the database's calls
    (``statements``) and of the saver's own lines (``lines``), a thread pauses until other threads
    have moved, or for ``pause_s`` at most if none of them can. ``most`` pauses are made. With
    ``alone``, as between processes, it cannot see others move, and pauses for about that time. With
    ``overtaken`` it pauses until up to so many other calls were answered, so that what it has read
    may be stale. With ``upkeep`` only operations on a whole thread, or on the whole store, pause.
    Of what threads hand to an event loop, a share (``handed``) comes late: some other calls may be
    answered before.
    """

    seed: str
    switch_s: float = 0.005
    statements: float = 0.0
    lines: float = 0.0
    pause_s: float = 0.003
    most: int = 300
    alone: bool = False
    overtaken: int = 0
    upkeep: bool = False
    handed: float = 0.0

    def describe(self) -> str:
        """One line for people."""
        places = [
            f"{share:.0%} of the {name}"
            for name, share in (
                ("database's calls", self.statements),
                ("saver's lines", self.lines),
            )
            if share
        ]
        wait = "are overtaken" if self.overtaken else "pause"
        pauses = f"; threads {wait} at {' and '.join(places)}" if places else ""
        return f"a switch interval of {self.switch_s:g} s{pauses}"


def schedule_of(number: int, seed: str) -> Schedule:
    """Return one of several kinds of schedule, in turn."""
    match number % 6:
        case 1 | 3:
            return Schedule(seed, 1e-5, lines=0.2, handed=0.3)
        case 2:
            return Schedule(seed, 1e-5, statements=0.05, pause_s=0.01, overtaken=3, handed=0.3)
        case 5:
            return Schedule(seed, 1e-6, pause_s=0.01, handed=0.6)
        case _:
            return Schedule(seed, 1e-5, statements=0.5, lines=0.08, handed=0.3)


class Pause:
    """A pause that begins now, and is over when others have moved enough, or cannot move.

    It then takes ``pause_s`` seconds at most.
    """

    def __init__(self, moved: Callable[[], bool], pause_s: float) -> None:
        self._moved, self._pause_s = moved, pause_s
        self._began = time.perf_counter()

    def is_over(self) -> bool:
        """Return whether what pauses may go on."""
        waited = time.perf_counter() - self._began
        return (
            self._moved()
            or waited > _LONGEST_S
            or (waited > self._pause_s and not _others_could_run())
        )


class Pauses:
    """Makes threads pause. ``install`` it before the saver is opened; it is never undone."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._moves = self._answers = 0
        self._local = threading.local()
        self.threads = 0
        """How many threads have reached a place where they may pause."""
        self._made = 0
        self.on = False
        """True if threads pause. A single caller does not."""
        self._callers = self._present = 0
        self._counting = threading.Lock()

    def install(self) -> None:
        """Set the switch interval, and hook into the database drivers that are loaded."""
        sys.setswitchinterval(self.schedule.switch_s)
        if self.schedule.statements:
            pause_around_calls(lambda: self.at(self.schedule.statements))

    def trace(self, saver: Any) -> None:
        """Let threads that start from now on pause between lines of the saver's own modules."""
        if self.schedule.lines:
            threading.settrace(
                lines_in(folders_of(saver), lambda frame: self.at(self.schedule.lines))
            )

    def begin(self, callers: int) -> None:
        """Pause from now on, while so many callers make calls."""
        self._callers = self._present = callers
        self.on = True

    def meet(self) -> None:
        """Note that a caller has made its calls of a round, and waits for the others.

        A caller that is the last one to make calls does not pause: nobody can overtake it.
        """
        with self._counting:
            # Whoever comes last lets all of them go on.
            self._present = self._present - 1 or self._callers

    def moved(self) -> None:
        """Note that a caller was answered."""
        self._moves += 1
        self._answers += 1

    def at(self, share: float) -> None:
        """Pause here, with this probability."""
        self._moves += 1
        if not self.on or self._is_alone or (self.schedule.upkeep and not UPKEEP.get()):
            return
        choose = self._choices()
        if choose.random() >= share or self._made >= self.schedule.most:
            return
        self._made += 1
        if self.schedule.alone:
            time.sleep(choose.uniform(0.2, 1.0) * self.schedule.pause_s)
            return
        if self.schedule.overtaken:
            pause = self._overtaken_by(choose.randint(1, self.schedule.overtaken))
        else:
            # Some steps of others, a few or as many as an operation takes.
            enough = self._moves + choose.randint(1, 10)
            pause = self._until(lambda: self._moves >= enough)
        while not pause.is_over():
            time.sleep(_NAP_S)

    def of_handed(self) -> Pause | None:
        """Return the pause that this thread makes before it hands something to a loop, or None."""
        choose = self._choices()
        if not self.on or choose.random() >= self.schedule.handed:
            return None
        return self._overtaken_by(choose.randint(1, _OVERTAKE))

    def _overtaken_by(self, calls: int) -> Pause:
        answered = self._answers + calls
        return self._until(lambda: self._answers >= answered)

    def _until(self, moved: Callable[[], bool]) -> Pause:
        return Pause(lambda: self._is_alone or moved(), self.schedule.pause_s)

    @property
    def _is_alone(self) -> bool:
        return self._present == 1

    def _choices(self) -> Random:
        choose: Random | None = getattr(self._local, "choose", None)
        if choose is None:
            self.threads += 1
            choose = self._local.choose = Random(f"{self.schedule.seed}:{self.threads}")
        return choose


def lines_in(folders: tuple[str, ...], at: Callable[[FrameType], object]) -> Tracer:
    """Return a trace function for a thread: it calls ``at`` before each line of the files in these
    folders.
    """

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            at(frame)
        return on_line

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename.startswith(folders) else None

    return on_call


def _others_could_run() -> bool:
    """Return whether another thread of this process waits only for a processor."""
    return could_run(os.getpid(), but=threading.get_native_id())


def could_run(process: int, *, but: int = 0, states: str = "R") -> bool:
    """Return whether a thread of a process waits only for a processor, as on a busy machine. The
    thread ``but`` does not count.

    A thread in the state "D" waits for a disk. Return False if the system does not tell.
    """
    try:
        tasks = os.listdir(f"/proc/{process}/task")
        return any(_state_of(process, task) in states for task in tasks if task != str(but))
    except OSError:
        return False


def runs_of(process: int) -> dict[str, str] | None:
    """Return how often each thread of a process was given a processor, by the thread's id.

    The first thread, which watches the others, is left out. Return None if there are no others, or
    if the system does not tell.
    """
    try:
        others = [task for task in os.listdir(f"/proc/{process}/task") if task != str(process)]
        return {each: _runs_in(f"/proc/{process}/task/{each}/schedstat") for each in others} or None
    except OSError:
        return None


def is_zombie(process: int) -> bool:
    """Return whether a process has ended, and its parent has not asked for its exit code. Return
    False if the system does not tell.

    The state of its threads does not count: each thread that ends is a zombie for a moment.
    """
    try:
        return _state_in(f"/proc/{process}/stat") == "Z"
    except OSError:
        return False


def _state_of(process: int, task: str) -> str:
    return _state_in(f"/proc/{process}/task/{task}/stat")


def _runs_in(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().split()[2]


def _state_in(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def folders_of(saver: Any) -> tuple[str, ...]:
    """The files or folders that hold the saver's own code, LangGraph's base class left out."""
    found: dict[str, None] = {}
    for owner in type(saver).__mro__:
        module = sys.modules.get(owner.__module__)
        file = getattr(module, "__file__", None)
        if file is None or owner.__module__ in _BASES or owner.__module__.startswith("typing"):
            continue
        path = Path(file)
        inside = (path.parent / "__init__.py").is_file() and not _is_shared(owner.__module__)
        found[f"{path.parent}/" if inside else file] = None
    return tuple(found)


_BASES = frozenset({"langgraph.checkpoint.base", "builtins", "abc", "contextlib"})


def _is_shared(module: str) -> bool:
    """Return whether the module's folder holds more than the saver, as a large package does."""
    return module.count(".") < 1


def pause_around_calls(pause: Callable[[], object]) -> None:
    """Pause before and after each call of the database drivers that are loaded."""
    INTERCEPTORS.current = PausingInterceptor(pause)
    for driver in KNOWN_DRIVERS.values():
        if any(module in sys.modules for module in driver.modules):
            driver.install()


class PausingInterceptor(Interceptor):
    """Lets every call of a database driver through, with a pause before and after it.

    There is no pause around awaited calls: it would only give other tasks a turn, which the loop
    does anyway.
    """

    in_turn = False
    """No hook is inside SQLite, and threads are to meet there wherever they can."""

    def __init__(self, pause: Callable[[], object]) -> None:
        super().__init__(lambda error: None)
        self._pause = pause

    def call(
        self,
        event: Event,
        sql: str,
        errors: ModuleType,
        run: Callable[[], Result],
        method: Method | None = None,
    ) -> Result:
        try:
            self._pause()
            result = run()
            self._pause()
            return result
        finally:
            # A traceback must not keep the program's cursor alive: see InterceptedCursor.
            result = run = None  # type: ignore[assignment]

    def batch(
        self,
        sql: str,
        rows: Iterable[Any],
        errors: ModuleType,
        run: Callable[[Iterable[Any]], Result],
    ) -> Result:
        def paused() -> Iterator[Any]:
            for row in rows:
                yield row
                self._pause()

        try:
            self._pause()
            result = run(paused())
            self._pause()
            return result
        finally:
            result = run = None  # type: ignore[assignment]
