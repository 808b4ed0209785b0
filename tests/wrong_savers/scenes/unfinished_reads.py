"""Fails and cancels reads, more often than a small pool has connections, and looks at the saver."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from tests.wrong_savers.scenes.failing import prepared, watched
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening

_OFTEN = 6


class HeldGate:
    """A gate that raises where another would wait for ever."""

    is_held = False

    def acquire(self, timeout: float) -> bool:
        if self.is_held:
            raise RuntimeError("whoever asks for the gate holds it")
        self.is_held = True
        return True

    def release(self) -> None:
        self.is_held = False


def answers_around_failures(saver: Any, folder: Path) -> list[Any]:
    """Return what sync reads answer while each SELECT is refused, and after that."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.saver.database.gate = HeldGate()
    reads = _sync_reads(probe)
    return _asked(probe, reads, reads)


def answers_around_cancellations(saver: Any, folder: Path) -> list[Any]:
    """Return what awaited reads answer that are cancelled, within a call or between two items, what
    they answer while each SELECT is refused, and what they answer after that.
    """
    probe = prepared(Probe(opening(saver), folder, "sync"))
    reads = _async_reads(probe)
    cancelled = [lambda read=read: _cancelled(read()) for read in reads]
    return _asked(probe, [*cancelled, lambda: _end_of(_cancelled_between_items(probe))], reads)


def _asked(probe: Probe, unfinished: Any, reads: list[Callable[[], Any]]) -> list[Any]:
    finished = [lambda read=read: _end_of(read()) for read in reads]

    def refuse(statement: str) -> None:
        if statement.startswith("SELECT"):
            raise sqlite3.OperationalError("database is locked")

    answers = []
    with watched(probe.saver, refuse):
        for _ in range(_OFTEN):
            answers += [probe.attempt(read) for read in finished]
    for _ in range(_OFTEN):
        answers += [probe.attempt(read) for read in unfinished]
    # In another order: what is left of the first is not what is asked first.
    answers += [probe.attempt(read) for read in reversed(finished)]
    probe.attempt(probe.saver.close)
    return answers


def _sync_reads(probe: Probe) -> list[Callable[[], Any]]:
    config = probe.config()
    return [lambda: probe.saver.get_tuple(config), lambda: [*probe.saver.list(config)]]


def _async_reads(probe: Probe) -> list[Callable[[], Coroutine[Any, Any, Any]]]:
    config = probe.config()

    async def listed() -> list[Any]:
        return [found async for found in probe.saver.alist(config)]

    def history() -> Coroutine[Any, Any, Any]:
        return probe.saver.aget_delta_channel_history(config=config, channels=["log"])

    return [lambda: probe.saver.aget_tuple(config), history, listed]


async def _cancelled_between_items(probe: Probe) -> Any:
    """List, and be cancelled before anything is done with the first item."""
    with suppress(asyncio.CancelledError):
        async with aclosing(probe.saver.alist(probe.config())) as listing:
            async for _ in listing:
                raise asyncio.CancelledError
    return "cancelled"


def _end_of(answer: Any) -> Any:
    """Return an answer; one that is awaited is driven to its end, without an event loop."""
    if not isinstance(answer, Coroutine):
        return answer
    try:
        while True:
            answer.send(None)
    except StopIteration as end:
        return end.value


def _cancelled(read: Coroutine[Any, Any, Any]) -> Any:
    """Cancel a read where it first waits; return its answer, or that it was cancelled."""
    read.send(None)
    try:
        read.throw(asyncio.CancelledError())
    except asyncio.CancelledError:
        return "cancelled"
    except StopIteration as end:
        return end.value
    return "it goes on"
