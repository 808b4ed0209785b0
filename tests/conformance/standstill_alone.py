"""A wait that is for ever is told from work, and from work that is given no processor.

Run by test_standstill.py, in a process of its own.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from saverproof.families.atomicity.trials import worker
from saverproof.families.atomicity.trials.worker import HungError, SlowError, Worker
from saverproof.process import standstill
from saverproof.process.standstill import MovementWatch, any_at_work, ends

LONG_S = 1_000.0
"""Far more processor time than anything here uses, as on a machine that gives next to none."""


@pytest.fixture
def lock() -> Iterator[threading.Lock]:
    made = threading.Lock()
    made.acquire()
    yield made
    made.release()


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield thread
    thread.join()


def test_a_thread_that_is_waited_for_ends_hangs_or_is_still_at_work(
    lock: threading.Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[None] = []

    def thread(body: Callable[[], object]) -> threading.Thread:
        return threading.Thread(target=body, daemon=True)

    assert ends(thread(lambda: None), LONG_S, LONG_S, lambda: None)
    with monkeypatch.context() as busy:
        busy.setattr(standstill, "_used_by_others_s", count(0, LONG_S).__next__)
        waits = thread(lambda: lock.acquire() and lock.release())
        assert ends(waits, LONG_S, 0.0, lambda: None) is None
    # The second one hangs beside the first.
    for _ in range(2):
        waits = thread(lambda: lock.acquire() and lock.release())
        assert ends(waits, 0.1, LONG_S, lambda: looks.append(None)) is False
    assert looks


def long_work() -> None:
    """One call, in one line, that leaves the interpreter to others."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000)


def test_threads_that_all_wait_stand_still(lock: threading.Lock) -> None:
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        lock.acquire()
        lock.release()

    threading.Thread(target=wait, daemon=True).start()
    waiting.wait()
    movement = MovementWatch()
    movement.look(LONG_S)
    assert not movement.for_ever(LONG_S)
    # These looks come so soon that the thread may still be on its way to the lock.
    looks = 0
    while not movement.for_ever(LONG_S):
        movement.look(LONG_S)
        looks += 1
        assert looks < 10_000


def test_a_thread_that_is_given_no_processor_does_not_stand_still() -> None:
    with beside(long_work):
        while not any_at_work():
            pass
        movement = MovementWatch()
        for _ in range(3):
            movement.look(LONG_S)
        assert movement.still_s == 2 * LONG_S
        assert not movement.for_ever(LONG_S)


def test_what_is_answered_meanwhile_is_movement(lock: threading.Lock) -> None:
    movement = MovementWatch()
    for answers in range(3):
        movement.look(LONG_S, answers)
    assert movement.still_s == 0
    assert movement.total_s == 3 * LONG_S


def test_a_worker_whose_call_waits_for_ever_hangs() -> None:
    over, hung = threading.Event(), Worker(0.3)
    with pytest.raises(HungError, match="starting: no answer"):
        hung.run(over.wait)
    over.set()
    hung.close()


def test_a_worker_whose_call_is_at_work_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LIMIT_S", 0.2)
    over, slow = threading.Event(), Worker(0.1)

    def work() -> None:
        while not over.is_set():
            long_work()

    with pytest.raises(
        SlowError, match=r"starting: no answer in 0\.2 s, but something still moves"
    ):
        slow.run(work)
    over.set()
    slow.close()
