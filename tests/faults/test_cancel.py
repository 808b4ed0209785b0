"""Cancellation at the same suspension each time, and waiting for what was handed to threads."""

import asyncio
import gc
import selectors
import socket
import sqlite3
import threading
import weakref
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import aiosqlite
import pytest

from saverproof_faults import (
    Ending,
    Event,
    Fault,
    Handoffs,
    Injector,
    Moment,
    NotSettled,
    Place,
    Plan,
    PlanError,
    cancel_at,
    count_awaits,
    open_transactions,
    outside_view,
)


def cancelling(index: int, moment: Moment = Moment.BEFORE) -> Plan:
    return Plan(Fault.CANCEL, Place(Event.AWAIT, index, moment))


async def three_steps(log: list[int]) -> str:
    for step in range(3):
        await asyncio.sleep(0)
        log.append(step)
    return "done"


def test_a_clean_run_counts_suspensions_and_returns() -> None:
    log: list[int] = []
    clean = asyncio.run(count_awaits(lambda: three_steps(log)))
    assert (clean.ending, clean.value, clean.fired) == (Ending.RETURNED, "done", False)
    assert clean.suspensions == ("asyncio.tasks.__sleep0",) * 3
    assert [plan.place.index for plan in clean.plans()] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("index", [1, 2, 3])
@pytest.mark.parametrize("moment", list(Moment))
def test_the_kth_suspension_is_cancelled(index: int, moment: Moment) -> None:
    log: list[int] = []
    ended = asyncio.run(cancel_at(lambda: three_steps(log), cancelling(index, moment)))
    assert (ended.ending, ended.fired) == (Ending.CANCELLED, True)
    assert log == list(range(index - 1))


def answer(future: "asyncio.Future[int]") -> None:
    if not future.done():
        future.set_result(1)


def test_cancelled_after_means_that_the_answer_is_lost() -> None:
    async def program(moment: Moment) -> tuple[bool, Ending]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()

        async def operation() -> int:
            loop.call_soon(answer, future)
            return await future

        ended = await cancel_at(operation, cancelling(1, moment))
        return future.cancelled(), ended.ending

    assert asyncio.run(program(Moment.BEFORE)) == (True, Ending.CANCELLED)
    assert asyncio.run(program(Moment.AFTER)) == (False, Ending.CANCELLED)


def test_what_the_operation_makes_of_it_is_told() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return "went on"
        return "was never cancelled"

    async def clumsy() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            raise KeyError("in the clean-up")

    kept = asyncio.run(cancel_at(stubborn, cancelling(1)))
    assert (kept.ending, kept.value, kept.fired) == (Ending.RETURNED, "went on", True)
    broken = asyncio.run(cancel_at(clumsy, cancelling(1)))
    assert broken.ending is Ending.RAISED
    assert isinstance(broken.error, KeyError)


def test_a_suspension_that_never_came_is_not_fired() -> None:
    ended = asyncio.run(cancel_at(lambda: three_steps([]), cancelling(4)))
    assert (ended.ending, ended.fired) == (Ending.RETURNED, False)


def test_other_plans_are_refused() -> None:
    plan = Plan(Fault.RAISE, Place(Event.STATEMENT))
    with pytest.raises(PlanError, match="expected 'cancel'"):
        asyncio.run(cancel_at(lambda: three_steps([]), plan))


async def careless(connection: aiosqlite.Connection) -> None:
    await connection.execute("INSERT INTO t VALUES (1)")
    await connection.execute("INSERT INTO t VALUES (2)")
    await connection.commit()


async def careful(connection: aiosqlite.Connection) -> None:
    try:
        await careless(connection)
    except BaseException:
        await connection.rollback()
        raise


@pytest.mark.parametrize(
    ("operation", "left_open"), [(careless, {0, 1, 2}), (careful, {0})], ids=["careless", "careful"]
)
def test_cancelled_database_calls_are_settled_before_looking(
    tmp_path: Path,
    operation: Callable[[aiosqlite.Connection], Awaitable[None]],
    left_open: set[int],
) -> None:
    async def program() -> set[int]:
        opened = set()
        with Injector() as injector:
            async with aiosqlite.connect(tmp_path / "clean.db") as connection:
                await connection.execute("CREATE TABLE t (x)")
                clean = await count_awaits(lambda: operation(connection))
            assert len(clean.suspensions) >= 3
            for number, plan in enumerate(clean.plans()):
                path = str(tmp_path / f"{number}.db")
                async with aiosqlite.connect(path) as connection:
                    await connection.execute("CREATE TABLE t (x)")
                    ended = await injector.cancel(partial(operation, connection), plan)
                    assert ended.fired
                    opened.add(len(open_transactions(injector.watch)))
                    opened.add(2 * outside_view(path).write_locked)
            assert injector.report.by_side == {"cancellation": len(clean.plans())}
        return opened

    assert asyncio.run(program()) == left_open


def test_settling_waits_for_a_thread_whose_answer_nobody_wants() -> None:
    may_end = threading.Event()
    done: list[str] = []

    def work() -> None:
        may_end.wait(5)
        done.append("done")

    async def program() -> None:
        with Handoffs() as handoffs:
            await cancel_at(lambda: asyncio.to_thread(work), cancelling(1))
            assert done == []
            asyncio.get_running_loop().call_soon(may_end.set)
            await handoffs.drain()
            assert done == ["done"]

    asyncio.run(program())


def test_work_that_is_done_is_not_kept() -> None:
    class Answer:
        pass

    async def program() -> None:
        with Handoffs():
            answer = weakref.ref(await asyncio.to_thread(Answer))
            # The loop lets go of it at its next turn.
            await asyncio.sleep(0)
            gc.collect()
            assert answer() is None

    asyncio.run(program())


class AnswersLate(selectors.DefaultSelector):
    """Files of a loop, one of which gets an answer after so many looks at all of them."""

    def __init__(self, server: socket.socket) -> None:
        super().__init__()
        self.server, self.looks = server, 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.looks += 1
        if self.looks == 100:
            self.server.send(b"done")
        return super().select(timeout)


def test_settling_waits_for_an_answer_that_comes_late() -> None:
    client, server = socket.socketpair()
    client.setblocking(False)
    answers: list[bytes] = []
    loop = asyncio.SelectorEventLoop(AnswersLate(server))

    async def ask() -> None:
        await asyncio.sleep(0)  # Until then nothing is waited for.
        answers.append(await loop.sock_recv(client, 4))

    async def shielded() -> None:
        await asyncio.shield(asyncio.ensure_future(ask()))

    async def program() -> None:
        with Injector() as injector:
            ended = await injector.cancel(shielded, cancelling(1))
        assert ended.ending is Ending.CANCELLED
        assert answers == [b"done"]

    with client, server, closing(loop):
        loop.run_until_complete(program())


def test_work_that_never_ends_is_reported() -> None:
    may_end = threading.Event()

    async def program() -> None:
        with Handoffs() as handoffs:
            await cancel_at(lambda: asyncio.to_thread(may_end.wait, 5), cancelling(1))
            try:
                with pytest.raises(NotSettled, match="not done after"):
                    await handoffs.drain(patience=0.01)
            finally:
                may_end.set()

    asyncio.run(program())


def test_a_sync_program_in_a_thread_can_be_cancelled_from_outside(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")

    def insert() -> None:
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("CREATE TABLE t (x)")
            connection.execute("INSERT INTO t VALUES (1)")
        connection.close()

    async def program() -> None:
        with Injector() as injector:
            ended = await injector.cancel(lambda: asyncio.to_thread(insert), cancelling(1))
            assert ended.ending is Ending.CANCELLED

    asyncio.run(program())
    assert outside_view(path).tables["t"].rows == 1
