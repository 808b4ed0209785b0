"""Makes the last statement of an operation fail, each time that the operation is called."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from saverproof.families.asked_saver import AskedSaver
from saverproof.process import heartbeat
from saverproof.savers.execution.store import Store
from saverproof_faults import Call, Event, Fault, Injector, Place, Plan
from saverproof_faults.plan import excerpt

_TICK_S = 0.5
"""Seconds between two looks at the clock, while a call does not return."""


class FailingSaver(AskedSaver):
    """A saver whose calls can be made to fail in their database, by an ``injector`` that is
    entered.

    ``struck`` is the number of calls that were failed. It stays 0 where no known driver makes the
    statements, or where calls that are made again make fewer.
    """

    def __init__(self, store: Store, injector: Injector) -> None:
        super().__init__(store)
        self.struck = 0
        self._injector = injector
        self._plans: dict[str, Plan | None] = {}

    def fail(self, operation: str, *arguments: Any) -> None:
        """Call an operation whose last statement fails; the first time, without a fault.

        Raises:
            Exception: the call ended with this error although nothing was failed.
        """
        ask = self.list if operation == "list" else partial(self._call, operation)
        if operation not in self._plans:
            calls: list[Call] = []
            with self._injector.meeting({}, None, record=calls):
                ask(*arguments)
            self._plans[operation] = _last_of(calls)
            return
        plan = self._plans[operation]
        with self._injector.meeting({}, plan) as shot:
            try:
                ask(*arguments)
            except Exception:
                if shot is None or not shot.fired:
                    raise
            self.struck += shot is not None and shot.fired


def _last_of(calls: list[Call]) -> Plan | None:
    statements = [one for one in calls if one.event is Event.STATEMENT]
    if not statements:
        return None
    last = statements[-1]
    place = Place(last.event, last.index)
    return Plan(Fault.RAISE, place, error=last.error, about=excerpt(last.sql))


@contextmanager
def answering_within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread if the block is not over after so many seconds: what
    has failed may have left a lock, for which the next call waits without end.

    It is raised where the thread stands, and again at the end if the saver has caught it. Signs of
    life are given until then: what hangs even so is the watchdog's. In other threads nothing is
    done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    until, late = time.monotonic() + seconds, None

    def tick(*_: object) -> None:
        nonlocal late
        heartbeat.beat(0)
        if time.monotonic() > until:
            signal.setitimer(signal.ITIMER_REAL, 0)
            said = f"no answer in {seconds:g} s, after a call that failed in its database"
            late = TimeoutError(said)
            raise late

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, _TICK_S, _TICK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if late is not None:
        raise late
