"""Runs the thread in which the saver is called. It can be given up if a call never returns."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from saverproof.process import heartbeat
from saverproof.process.standstill import MovementWatch
from saverproof_faults import was_injected

T = TypeVar("T")

PATIENCE_S = 6.0
"""Seconds without any progress after which a call of a saver, on a store that nobody else uses,
counts as hung. By default, Python's connections to SQLite wait five seconds for a lock.
"""
LIMIT_S = 30.0
"""Seconds that a stage may take if there is progress; nothing is judged of a longer one."""
_POLL_S = 0.1
NAME = "saverproof-faults"
"""The name of the workers' threads."""


class UnansweredError(Exception):
    """A call of the saver did not return; the text says which."""


class HungError(UnansweredError):
    """The call will never return: nothing moves any more."""


class SlowError(UnansweredError):
    """The call may still return: nothing can be said of it."""


class AbandonedError(BaseException):
    """The end of the work of a worker that was given up, if its call returns after all."""


class Worker:
    """Runs one piece of work after the other, all on one thread.

    A saver may insist on the thread that opened it, so everything that is done to it happens here.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self.abandoned = False
        self.rescue: Callable[[], object] | None = None
        """An action that may help a call which does not return; it is done once, before the worker
        is given up.
        """
        self._stage = "starting"
        self._stages = 0
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
        self.thread.start()

    @property
    def is_here(self) -> bool:
        """True if the current thread is the worker's own."""
        return threading.current_thread() is self.thread

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def say(self, stage: str) -> None:
        """Record what is called next. Raises AbandonedError if nobody waits for it any more."""
        if self.abandoned:
            raise AbandonedError
        heartbeat.beat(0)
        self._stage = stage
        self._stages += 1

    def run(self, work: Callable[[], T]) -> T:
        """Do the work on the worker's thread. Return its result, or raise its error.

        Raises:
            HungError: nothing has moved for as long as the worker's patience lasts.
            SlowError: something moved, but a stage took too long. After either error the worker
                cannot be used again.
        """
        answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

        def answered() -> None:
            try:
                answers.put((work(), None))
            except BaseException as error:  # noqa: BLE001 - carried to the caller, who raises it
                answers.put((None, error))

        stages, movement = self._stages, MovementWatch()
        self._work.put(answered)
        while True:
            before = time.monotonic()
            try:
                value, error = answers.get(timeout=_POLL_S)
            except queue.Empty:
                if stages != self._stages:
                    stages, movement = self._stages, MovementWatch()
                # If this process was itself suspended, so was the call: no single wait counts for
                # much.
                movement.look(min(time.monotonic() - before, 5 * _POLL_S))
                if self._is_rescued(movement):
                    movement = MovementWatch()
                self._check(movement)
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]

    def _is_rescued(self, movement: MovementWatch) -> bool:
        """Try the rescue action if a call seems not to return. Return whether it was tried."""
        rescue, late = self.rescue, movement.total_s >= LIMIT_S
        if rescue is None or not (late or movement.for_ever(self.patience_s)):
            return False
        self.rescue = None
        rescue()
        return True

    def _check(self, movement: MovementWatch) -> None:
        heartbeat.beat(0)
        if movement.for_ever(self.patience_s):
            self.abandoned = True
            raise HungError(f"{self._stage}: no answer in {movement.total_s:.0f} s")
        if movement.total_s >= LIMIT_S:
            self.abandoned = True
            raise SlowError(f"{self._stage}: no answer in {LIMIT_S:g} s, but something still moves")

    def close(self) -> None:
        """End the thread. A thread that hangs ends with the process.

        A worker that was given up may still be running. It must not disturb what comes next.
        """
        self._work.put(None)
        self.thread.join(self.patience_s if self.abandoned else None)


def any_left() -> bool:
    """Return whether a worker that was given up still waits for its call of the saver to return."""
    return any(thread.name == NAME for thread in threading.enumerate())


def call_quietly(action: Callable[[], Any]) -> BaseException | None:
    """Do the action. Return its exception instead of raising it, unless nobody waits any more."""
    try:
        action()
    except AbandonedError:
        raise
    except KeyboardInterrupt as error:
        if was_injected(error):
            return error
        raise
    except BaseException as error:  # noqa: BLE001 - a saver may raise anything
        return error
    return None
