"""The executor of asynchronous counts starts a thread only if all others are at work."""

from __future__ import annotations

from concurrent.futures import wait
from threading import Barrier, Event, get_ident

from saverproof.families.lean_executor import LeanExecutor


def test_calls_one_after_another_share_a_thread() -> None:
    with LeanExecutor() as executor:
        assert len({executor.submit(get_ident).result() for _ in range(100)}) == 1


def test_calls_at_once_have_a_thread_each() -> None:
    together = Barrier(3)
    with LeanExecutor() as executor:
        done, _ = wait(executor.submit(together.wait) for _ in range(3))
        assert sorted(each.result() for each in done) == [0, 1, 2]


def test_a_cancelled_call_keeps_no_later_one_waiting() -> None:
    held = Event()
    with LeanExecutor() as executor:
        busy = [executor.submit(held.wait) for _ in range(executor._max_workers)]
        assert executor.submit(get_ident).cancel()
        held.set()
        wait(busy)
        assert executor._unanswered == 0
