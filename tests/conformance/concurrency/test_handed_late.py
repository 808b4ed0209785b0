"""A loop takes what threads hand to it late, if a schedule says so, and all else in order."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from saverproof.families.concurrency.callers.handed_late import loop_handed_late
from saverproof.families.concurrency.callers.schedules import Pauses, Schedule
from saverproof.savers.targets.event_loop import EventLoop


def test_calls_of_others_are_answered_before_what_a_thread_hands_over() -> None:
    pauses = Pauses(Schedule("seed", pause_s=10.0, handed=1.0))
    order: list[str] = []
    ends = threading.Event()

    async def bridged() -> None:
        await asyncio.to_thread(ends.wait)
        order.append("bridged")

    async def others() -> None:
        ends.set()
        # Three answers end each pause, and the thread has not handed over anything before one.
        for _ in range(3):
            await asyncio.sleep(0)
            order.append("other")
            pauses.moved()

    async def both() -> None:
        pauses.on = True
        await asyncio.gather(bridged(), others())
        pauses.on = False

    with EventLoop(partial(loop_handed_late, pauses)) as loop:
        loop.run(both())
    assert order[0] == "other"
    assert "bridged" in order


@pytest.mark.parametrize(("handed", "on"), [(0.0, True), (1.0, False)])
def test_nothing_is_late_without_a_share_or_before_callers_begin(handed: float, on: bool) -> None:
    pauses = Pauses(Schedule("seed", handed=handed))
    pauses.on = on
    assert pauses.of_handed() is None


def test_what_its_own_thread_hands_over_keeps_its_order() -> None:
    pauses = Pauses(Schedule("seed", pause_s=10.0, handed=1.0))
    order: list[int] = []

    async def hand_over() -> None:
        pauses.on = True
        for number in range(20):
            asyncio.get_running_loop().call_soon_threadsafe(order.append, number)
        await asyncio.sleep(0)
        pauses.on = False

    with EventLoop(partial(loop_handed_late, pauses)) as loop:
        loop.run(hand_over())
    assert order == [*range(20)]


def test_what_a_thread_hands_over_keeps_its_order() -> None:
    """A right saver may stream its rows so, and an end mark after them."""
    pauses = Pauses(Schedule("seed", handed=0.6))
    order: list[int] = []

    async def stream() -> None:
        loop, pauses.on = asyncio.get_running_loop(), True

        def hand_over() -> None:
            for number in range(20):
                loop.call_soon_threadsafe(order.append, number)

        await asyncio.to_thread(hand_over)
        pauses.on = False

    with EventLoop(partial(loop_handed_late, pauses)) as loop:
        loop.run(stream())
    assert order == [*range(20)]
