"""Count how many of several callers are in a program's database driver at once.

Each caller is held at its first call of a driver, until all callers are there or nothing moves any
more. Callers that are still missing then wait for one that is held.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self

from saverproof_faults.counters.replacing import Surrounding, in_place_of_the_usual
from saverproof_faults.drivers import Driver
from saverproof_faults.injector import Injector
from saverproof_faults.interceptor import Result
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.settled import is_running, standing

_STANDSTILL_S = 0.5
"""Seconds without any movement after which nobody is expected to arrive any more."""
_LONGEST_S = 20.0
"""Seconds after which a meeting ends although something moves all the time."""
_STEP_S = 0.003
"""Seconds between two looks."""

_CALLER: ContextVar[int | None] = ContextVar("caller", default=None)
"""The number of the caller on whose behalf code runs. Tasks and most executors pass it on; threads
that open connections for a pool have none.
"""


@dataclass(frozen=True, slots=True)
class Met:
    """The result of a meeting: ``at_once`` callers were in the driver at the same time.

    ``errors`` are what their calls raised. ``came_to_rest`` is False if something still moved when
    patience ended, so that others might have arrived later.
    """

    at_once: int
    errors: Sequence[BaseException] = ()
    came_to_rest: bool = True


class Meetings:
    """A context manager that counts callers. Enter it before the program connects.

    In a process, only one ``Meetings`` or ``Injector`` can be entered at a time.

        with Meetings() as meetings:
            store = open_store(path)
            print(meetings.of([lambda: store.get("a"), lambda: store.get("b")]).at_once)
    """

    def __init__(self, drivers: Iterable[Driver] = ()) -> None:
        self._injector = Injector(drivers)

    def __enter__(self) -> Self:
        self._injector.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._injector.__exit__(*exc_info)

    def of(self, calls: Sequence[Callable[[], object]]) -> Met:
        """Make all calls at once, each in a thread of its own."""
        meeting = _Meeting(len(calls))
        with in_place_of_the_usual(meeting):
            threads = [
                threading.Thread(target=meeting.attend, args=(number, call), daemon=True)
                for number, call in enumerate(calls)
            ]
            for thread in threads:
                thread.start()
            came_to_rest = meeting.wait()
            at_once = meeting.release()
            for thread in threads:
                thread.join()
        return Met(at_once, meeting.errors, came_to_rest)


@dataclass(slots=True)
class _Callers:
    """The callers that are held in the driver, and those that have ended."""

    held: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    tasks: list[asyncio.Future[None]] = field(default_factory=list)


class _Meeting(Surrounding):
    """An interceptor that holds each caller once, and fails nothing."""

    def __init__(self, callers: int) -> None:
        super().__init__()
        self.errors: list[BaseException] = []
        self._expected = callers
        self._callers = _Callers()
        self._changing = threading.Lock()
        self._released = threading.Event()

    def attend(self, number: int, call: Callable[[], object]) -> None:
        """Make a caller's call, and note when it has ended."""
        _CALLER.set(number)
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - a program may raise anything
            self.errors.append(error)
        with self._changing:
            self._callers.ended.add(number)

    def wait(self) -> bool:
        """Wait until all have arrived, or nothing moves; return False if patience ended first."""
        deadline = time.monotonic() + _LONGEST_S
        before, since = self._looked(), time.monotonic()
        while not self._all_are_here():
            now = time.monotonic()
            if now > deadline:
                return False
            time.sleep(_STEP_S)
            looked = self._looked()
            if looked != before or any(map(is_running, _others())):
                before, since = looked, now
            elif now - since > _STANDSTILL_S:
                return True
        return True

    def release(self) -> int:
        """Let all callers go on, and return how many were held."""
        with self._changing:
            self._released.set()
            for task in self._callers.tasks:
                task.get_loop().call_soon_threadsafe(_let_go, task)
            return len(self._callers.held)

    def around(self, call: Callable[[], Result]) -> Result:
        if self._arrives():
            self._released.wait()
        return call()

    async def before_await(self) -> None:
        if not self._arrives():
            return
        task = asyncio.get_running_loop().create_future()
        with self._changing:
            if self._released.is_set():
                return
            self._callers.tasks.append(task)
        await task

    def _arrives(self) -> bool:
        """Return whether this is the first call of a driver by a caller that was not held yet."""
        caller = _CALLER.get()
        if caller is None or FLAGS.inside:
            return False
        with self._changing:
            if self._released.is_set() or caller in self._callers.held:
                return False
            self._callers.held.add(caller)
            return True

    def _all_are_here(self) -> bool:
        with self._changing:
            return len(self._callers.held | self._callers.ended) == self._expected

    def _looked(self) -> tuple[Any, ...]:
        with self._changing:
            seen = len(self._callers.held), len(self._callers.ended)
        return *seen, *standing(_others())


def _others() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one is not threading.current_thread()]


def _let_go(task: asyncio.Future[None]) -> None:
    if not task.done():
        task.set_result(None)
