"""A thread in which the saver is called, and which can be given up if a call never returns."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from saverproof.process import heartbeat

T = TypeVar("T")

PATIENCE_S = 5.0
"""Seconds after which a single call of a saver, on a store that nobody else uses, has hung."""
_EVERY_S = 0.5
NAME = "saverproof-faults"
"""What the threads of workers are called."""


class HungError(Exception):
    """A call of the saver did not return; the text says which."""


class AbandonedError(BaseException):
    """Ends what a worker that was given up still does, should its call return after all."""


class Worker:
    """Runs one piece of work after the other, all on one thread.

    A saver may insist on the thread that opened it, so everything that is done to it happens here.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self.abandoned = False
        self._stage = "starting"
        self._heard = time.monotonic()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def say(self, stage: str) -> None:
        """Note what is called next. Raises AbandonedError if nobody waits for it any more."""
        if self.abandoned:
            raise AbandonedError
        heartbeat.beat(0)
        self._stage, self._heard = stage, time.monotonic()

    def run(self, work: Callable[[], T]) -> T:
        """Do the work on the worker's thread, and give what it gives or raise what it raises.

        Raises:
            HungError: a stage took longer than the worker's patience; the worker is of no more use.
        """
        answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

        def answered() -> None:
            try:
                answers.put((work(), None))
            except BaseException as error:  # noqa: BLE001 - carried to the caller, who raises it
                answers.put((None, error))

        self._heard = time.monotonic()
        self._work.put(answered)
        while True:
            try:
                value, error = answers.get(timeout=_EVERY_S)
            except queue.Empty:
                self._check()
                continue
            if error is not None:
                raise error
            return value  # type: ignore[return-value]

    def _check(self) -> None:
        heartbeat.beat(0)
        waited = time.monotonic() - self._heard
        if waited > self.patience_s:
            self.abandoned = True
            raise HungError(f"{self._stage}: no answer in {self.patience_s:g} s")

    def close(self) -> None:
        """Let the thread end; one that hangs ends with the process.

        One that was given up may be on its way, and must not be heard in what comes next.
        """
        self._work.put(None)
        self._thread.join(self.patience_s if self.abandoned else None)


def any_left() -> bool:
    """Whether a worker that was given up still waits for its call of the saver."""
    return any(thread.name == NAME for thread in threading.enumerate())


def call_quietly(action: Callable[[], Any]) -> BaseException | None:
    """Do it; gives the exception instead of raising it, unless nobody waits any more."""
    try:
        action()
    except (AbandonedError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - a saver may raise anything
        return error
    return None
