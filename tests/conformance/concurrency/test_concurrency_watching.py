"""What waits for ever is told from what takes its time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from saverproof.families.concurrency.callers import schedules
from saverproof.families.concurrency.callers.schedules import Pauses, Schedule
from saverproof.families.concurrency.callers.watching import AnswerCount, position_of, stacks, watch
from saverproof.savers.targets.event_loop import EventLoop


@pytest.fixture
def lock() -> Iterator[threading.Lock]:
    made = threading.Lock()
    made.acquire()
    yield made
    made.release()


def test_a_deadlock_is_told_with_the_stack_of_every_thread(lock: threading.Lock) -> None:
    def wait_for_the_lock() -> None:
        with lock:
            pass

    def scene() -> None:
        threading.Thread(target=wait_for_the_lock, name="the other side", daemon=True).start()
        wait_for_the_lock()

    still = watch(scene, AnswerCount(), patience_s=0.3)
    assert still is not None
    assert still.hung
    assert still.stacks.count("wait_for_the_lock: with lock:") == 2
    assert "thread the other side:" in still.stacks


def test_work_is_no_deadlock() -> None:
    patience_s = 0.1

    def work() -> None:
        over = time.monotonic() + 5 * patience_s
        while time.monotonic() < over:
            sum(range(1_000))

    assert watch(work, AnswerCount(), patience_s=patience_s) is None


def test_a_task_that_waits_is_shown_with_what_it_waits_for() -> None:
    with EventLoop() as loop:
        event = asyncio.Event()

        async def a_listing() -> object:
            yield await event.wait()

        async def waits_for_ever() -> None:
            async for _ in a_listing():
                pass

        async def start() -> object:
            # Savers that earlier tests gave up may still wait on loops of their own.
            threading.current_thread().name = "the thread of this loop"
            return asyncio.create_task(waits_for_ever(), name="the one that waits")

        task = loop.run(start())
        loop.run(asyncio.sleep(0))
        told = stacks(loop)
        del task
    assert "task the one that waits:" in told
    assert "a_listing: yield await event.wait()" in told
    assert "the thread of this loop" not in told, "what only serves the loop says nothing"


def test_a_paused_listing_is_shown_where_it_stands() -> None:
    def a_listing() -> Iterator[int]:
        yield 1
        yield 2

    listing = a_listing()
    next(listing)
    assert "a_listing: yield 1" in position_of(listing)


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule("0", statements=1.0, pause_s=60.0),
        Schedule("0", statements=1.0, pause_s=60.0, overtaken=True),
    ],
    ids=["some steps", "some answers"],
)
def test_pauses_let_another_thread_go_first(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "_LONGEST_S", 60.0)
    pauses = Pauses(schedule)
    pauses.on = True
    order: list[str] = []

    def first() -> None:
        pauses.at(1.0)
        order.append("the one that paused")

    def second() -> None:
        order.append("the other one")
        for _ in range(20):
            pauses.moved()

    threads = [threading.Thread(target=target) for target in (first, second)]
    threads[0].start()
    while not pauses.threads:
        pass
    threads[1].start()
    for thread in threads:
        thread.join()
    assert order == ["the other one", "the one that paused"]


def test_who_is_overtaken_waits_for_answers_and_not_for_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedules, "_LONGEST_S", 60.0)
    pauses = Pauses(Schedule("0", statements=1.0, pause_s=60.0, overtaken=True))
    pauses.on = True
    thread = threading.Thread(target=lambda: pauses.at(1.0), daemon=True)
    thread.start()
    while not pauses.threads:
        pass
    pauses.on = False
    for _ in range(20):
        pauses.at(1.0)
    assert thread.is_alive()
    for _ in range(3):
        pauses.moved()
    thread.join()
