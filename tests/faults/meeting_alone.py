"""How many callers are in the driver at once is counted, whatever the clock says.

Run by test_alone.py, in a process of its own.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from saverproof_faults.counters import Meetings

CALLERS = 3


@pytest.fixture
def meetings() -> Iterator[Meetings]:
    with Meetings() as entered:
        yield entered


def asks(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT * FROM numbers").fetchall()


def asks_in_line(lock: threading.Lock, file: Path) -> None:
    with lock:
        asks(file)


def asks_in_a_thread_of_its_own(file: Path) -> None:
    thread = threading.Thread(target=asks, args=(file,))
    thread.start()
    thread.join()


def asks_nothing(file: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("call", "at_once"),
    [
        (asks, CALLERS),
        (partial(asks_in_line, threading.Lock()), 1),
        # What is done by a thread that is not told for whom is done for nobody.
        (asks_in_a_thread_of_its_own, 0),
        (asks_nothing, 0),
    ],
)
def test_callers_that_reach_the_driver_are_counted(
    meetings: Meetings, file: Path, call: Callable[[Path], None], at_once: int
) -> None:
    met = meetings.of([partial(call, file)] * CALLERS)
    assert (met.at_once, met.errors, met.came_to_rest) == (at_once, [], True)


def test_a_second_meeting_counts_anew(meetings: Meetings, file: Path) -> None:
    assert [meetings.of([partial(asks, file)] * CALLERS).at_once for _ in range(2)] == [3, 3]


def test_tasks_of_one_loop_are_callers(meetings: Meetings, file: Path) -> None:
    loop = asyncio.new_event_loop()
    serving = threading.Thread(target=loop.run_forever)
    serving.start()
    lock = asyncio.Lock()

    async def ask() -> None:
        await asyncio.to_thread(asks, file)

    async def ask_in_line() -> None:
        async with lock:
            await ask()

    def call(asking: Callable[[], object]) -> None:
        asyncio.run_coroutine_threadsafe(asking(), loop).result()  # type: ignore[arg-type]

    try:
        counted = [meetings.of([partial(call, one)] * CALLERS) for one in (ask, ask_in_line)]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        serving.join()
        loop.close()
    assert [met.at_once for met in counted] == [CALLERS, 1]


def test_what_a_call_raises_is_told(meetings: Meetings, tmp_path: Path) -> None:
    met = meetings.of([partial(asks, tmp_path / "none" / "a.db")] * CALLERS)
    assert [type(error) for error in met.errors] == [sqlite3.OperationalError] * CALLERS
