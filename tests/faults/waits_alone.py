"""Whether an event loop goes on while a database call waits is seen, whatever the clock says.

Run by test_alone.py, in a process of its own.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import aiosqlite
import pytest

from saverproof_faults.counters import Waited, Waits
from saverproof_faults.counters import waits as module
from saverproof_faults.drivers import EXECUTE, ClassDriver

Ask = Callable[[Path], Awaitable[object]]


@pytest.fixture
def waits() -> Iterator[Waits]:
    with Waits() as entered:
        yield entered


def asks(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT * FROM numbers").fetchall()
        connection.execute("SELECT 1").fetchall()


async def on_the_loop(file: Path) -> None:
    asks(file)


async def in_a_thread(file: Path) -> None:
    await asyncio.to_thread(asks, file)


async def by_aiosqlite(file: Path) -> None:
    async with aiosqlite.connect(file) as connection, connection.execute("SELECT 1") as cursor:
        await cursor.fetchall()


async def waited_for_on_the_loop(file: Path) -> None:
    thread = threading.Thread(target=asks, args=(file,))
    thread.start()
    thread.join()


async def nothing(file: Path) -> None:
    await asyncio.sleep(0)


OF_THREADS, OF_TASKS = threading.Lock(), asyncio.Lock()


def asks_under_a_lock(file: Path) -> None:
    with OF_THREADS:
        asks(file)


async def behind_a_lock_of_threads(file: Path) -> None:
    with OF_THREADS:
        pass
    await asyncio.to_thread(asks_under_a_lock, file)


async def behind_a_lock_of_tasks(file: Path) -> None:
    async with OF_TASKS:
        await asyncio.to_thread(asks, file)


def seen(waits: Waits, ask: Ask, file: Path, callers: int) -> Waited:
    async def all_of_them() -> Waited:
        return await waits.of(*[lambda: ask(file)] * callers)

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("ask", "callers", "held"),
    [
        (in_a_thread, 1, 2),
        (in_a_thread, 3, 6),
        (by_aiosqlite, 1, 1),
        (behind_a_lock_of_threads, 1, 2),
        (behind_a_lock_of_tasks, 2, 4),
        (nothing, 1, 0),
    ],
)
def test_a_loop_that_goes_on_lets_every_call_go(
    waits: Waits, file: Path, ask: Ask, callers: int, held: int
) -> None:
    assert seen(waits, ask, file, callers) == Waited(held, [], [])


@pytest.mark.parametrize(
    ("ask", "callers", "where"),
    [
        (on_the_loop, 1, "asks"),
        (waited_for_on_the_loop, 1, "join"),
        (behind_a_lock_of_threads, 2, "behind_a_lock_of_threads"),
    ],
)
def test_a_loop_that_stands_still_is_seen_where_it_stands(
    waits: Waits,
    file: Path,
    ask: Ask,
    callers: int,
    where: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its thread waits for a lock, whatever else this machine does.
    monkeypatch.setattr(module, "_STANDSTILL_S", 0.2)
    stood = seen(waits, ask, file, callers).stood
    assert where in {frame.name for frame in stood[0]}
    assert not [frame for frame in stood[0] if "saverproof_faults" in frame.filename]


def test_what_a_call_raises_is_told(waits: Waits, tmp_path: Path) -> None:
    waited = seen(waits, in_a_thread, tmp_path / "none" / "a.db", 1)
    assert [type(error) for error in waited.errors] == [sqlite3.OperationalError]


class Client:
    """A driver whose method is no coroutine, and gives one."""

    def execute(self, sql: str) -> Awaitable[object]:
        return asyncio.sleep(0)


def test_what_gives_something_to_be_awaited_stops_no_loop(file: Path) -> None:
    methods = {f"{__name__}:Client.execute": EXECUTE}
    driver = ClassDriver(name="own", modules=(__name__,), errors="sqlite3", methods=methods)

    async def ask(file: Path) -> None:
        await Client().execute("SELECT 1")

    with Waits([driver]) as waits:
        assert seen(waits, ask, file, 1) == Waited(0, [], [])
