"""Find out whether an event loop goes on while calls that are awaited on it wait for a database.

Each call of a driver is held until the loop itself has taken some turns and lets the call go. If
the loop's own thread makes the call, that never happens. If another thread makes it, it happens at
once, however busy the machine is, unless the loop waits for the held call.
"""

import asyncio
import inspect
import os
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

import saverproof_faults
from saverproof_faults.counters.replacing import Surrounding, in_place_of_the_usual
from saverproof_faults.drivers import Driver
from saverproof_faults.injector import Injector
from saverproof_faults.interceptor import Result
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.settled import is_running, standing

TURNS = 20
"""How many turns of the loop a call is held: enough for a call that begins meanwhile to reach the
lock that it waits for.
"""
_STANDSTILL_S = 2.0
"""Seconds without movement of the loop's thread, while calls wait for its turns, after which the
loop stands still. On a busy machine its thread would be ready to run.
"""
_LONGEST_S = 10.0
"""Seconds without a turn after which the loop counts as standing still although its thread moves:
it may ask again and again whether the held call has ended.
"""
_STEP_S, _LONGEST_STEP_S = 0.02, 0.1
"""Seconds between two looks, and the most that one look counts: this process may itself be
suspended.
"""
_OWN = os.path.dirname(os.path.abspath(saverproof_faults.__file__))


@dataclass(frozen=True, slots=True)
class Waited:
    """The record of calls that were awaited.

    ``held`` calls of a driver were held and let go by the loop. ``stood`` has a stack of the loop's
    thread for each way in which the loop stood still, the innermost call last. ``errors`` are what
    the awaited calls raised.
    """

    held: int = 0
    stood: Sequence[traceback.StackSummary] = ()
    errors: Sequence[BaseException] = ()


class Waits:
    """A context manager that makes calls wait for the event loop. Enter it before the program
    connects.

    In a process, only one ``Waits``, ``Meetings`` or ``Injector`` can be entered at a time.

        with Waits() as waits:
            store = await open_store(path)
            waited = await waits.of(lambda: store.get("a"))
            print(waited.held, waited.stood)
    """

    def __init__(self, drivers: Iterable[Driver] = ()) -> None:
        self._injector = Injector(drivers)

    def __enter__(self) -> Self:
        self._injector.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._injector.__exit__(*exc_info)

    async def of(
        self, call: Callable[[], Awaitable[object]], *beside: Callable[[], Awaitable[object]]
    ) -> Waited:
        """Await a call on the running loop, and hold its calls of a driver.

        The calls ``beside`` it begin when it is held for the first time, or when it is over.
        """
        holding = _Holding(asyncio.get_running_loop(), threading.current_thread())
        with in_place_of_the_usual(holding), holding.watched():
            first = asyncio.ensure_future(_awaited(call))
            first.add_done_callback(lambda _: holding.came.set())
            await holding.came.wait()
            others = (_awaited(one) for one in beside)
            answers = await asyncio.gather(first, *others, return_exceptions=True)
        errors = [answer for answer in answers if isinstance(answer, BaseException)]
        return Waited(holding.let_go, holding.stood, errors)


async def _awaited(call: Callable[[], Awaitable[object]]) -> object:
    return await call()


@dataclass(eq=False, slots=True)
class _Hold:
    """A call of a driver that is held; ``release`` lets it go on, from any thread."""

    release: Callable[[], object]
    turns: int = TURNS


@dataclass(slots=True)
class _Holds:
    """The calls that are held now. ``over`` says that no more calls are to be held."""

    now: set[_Hold] = field(default_factory=set)
    over: bool = False
    turns: int = 0
    changing: threading.Lock = field(default_factory=threading.Lock)


class _Holding(Surrounding):
    """An interceptor that holds each call until the loop lets it go, and fails nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        super().__init__()
        self.came = asyncio.Event()
        """Set on the loop when a call is held."""
        self.let_go = 0
        self.stood: list[traceback.StackSummary] = []
        self._loop = loop
        self._thread = thread
        self._holds = _Holds()
        self._ended = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the loop's turns from another thread within a block; after the block no call is
        held.
        """
        watch = threading.Thread(target=self._watch, name="watch of the loop", daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._release_all()
            self._ended.set()
            watch.join()

    def around(self, call: Callable[[], Result]) -> Result:
        if FLAGS.inside:
            return call()
        if threading.current_thread() is self._thread:
            return self._on_the_loop(call)
        released = threading.Event()
        if self._begin(_Hold(released.set)):
            released.wait()
        return call()

    def _on_the_loop(self, call: Callable[[], Result]) -> Result:
        """Make a call on the loop's own thread: the loop waits for it, unless its result is to be
        awaited.
        """
        answer = None
        try:
            answer = call()
            return answer
        finally:
            # The call blocked the loop's thread and gives nothing to await.
            if not inspect.isawaitable(answer):
                self._stands(sys._getframe())

    async def before_await(self) -> None:
        if FLAGS.inside:
            return
        loop = asyncio.get_running_loop()
        released = loop.create_future()
        if self._begin(_Hold(lambda: loop.call_soon_threadsafe(_finish, released))):
            await released

    def _begin(self, hold: _Hold) -> bool:
        """Ask the loop to let a call go after its turns. Return whether the call is held until
        then.
        """
        with self._holds.changing:
            if self._holds.over:
                return False
            self._holds.now.add(hold)
        self._loop.call_soon_threadsafe(self._turn, hold)
        return True

    def _turn(self, hold: _Hold) -> None:
        """Take a turn of the loop, and count it for a held call."""
        self.came.set()
        self._holds.turns += 1
        hold.turns -= 1
        if hold.turns:
            self._loop.call_soon(self._turn, hold)
            return
        with self._holds.changing:
            if hold not in self._holds.now:
                return
            self._holds.now.remove(hold)
            self.let_go += 1
        hold.release()

    def _release_all(self) -> None:
        with self._holds.changing:
            self._holds.over = True
            left = list(self._holds.now)
            self._holds.now.clear()
        for hold in left:
            hold.release()

    def _watch(self) -> None:
        before: tuple[Any, ...] = ()
        still_s = without_turn_s = 0.0
        began = time.monotonic()
        while not self._ended.wait(_STEP_S):
            now = time.monotonic()
            waited_s, began = min(now - began, _LONGEST_STEP_S), now
            turned = before[:1] != (self._holds.turns,) or not self._holds.now
            looked = self._holds.turns, *standing([self._thread])
            moved = turned or looked != before or is_running(self._thread)
            before = looked
            still_s = 0.0 if moved else still_s + waited_s
            without_turn_s = 0.0 if turned else without_turn_s + waited_s
            if still_s > _STANDSTILL_S or without_turn_s > _LONGEST_S:
                self._stands(sys._current_frames().get(self._thread.ident or 0))
                self._release_all()
                return

    def _stands(self, frame: FrameType | None) -> None:
        """Keep the stack of the loop's thread, unless the loop stood there before."""
        frames = [
            one
            for one in traceback.StackSummary.extract(traceback.walk_stack(frame))
            if not one.filename.startswith(_OWN)
        ]
        stack = traceback.StackSummary.from_list(reversed(frames))
        if stack not in self.stood:
            self.stood.append(stack)


def _finish(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
