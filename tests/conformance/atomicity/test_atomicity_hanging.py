"""Savers that never answer after a fault, or answer when nobody waits for them any more.

By night, one that never gives up asking.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.conformance.atomicity.test_atomicity import found, judged, of_class, target_of
from tests.nights import by_night
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference

from saverproof.families.atomicity.trials import bench, worker
from saverproof.families.atomicity.trials.counting import counting_places
from saverproof.savers.targets.event_loop import Loop


class NeverReleasing(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        self.wait_for_the_gate()
        with super().writing():
            yield
        self.gate.release()

    def wait_for_the_gate(self) -> None:
        # Short waits, so that the thread can be ended.
        while not self.gate.acquire(timeout=0.02):
            if self.given_up.is_set():
                raise RuntimeError("nobody waits any more")

    given_up = threading.Event()


class AlwaysAskingAgain(NeverReleasing):
    """Moves on while it waits: two looks at it hardly ever find it at the same depth."""

    def wait_for_the_gate(self) -> None:
        while not self.asked_again(0):
            if self.given_up.is_set():
                raise RuntimeError("nobody waits any more")

    def asked_again(self, times: int) -> bool:
        if self.gate.acquire(timeout=0.001):
            return True
        return times < 100 and self.asked_again(times + 1)


class WaitingOnceItFailed(SqliteReference):
    """A latest that cannot be read is waited for, and nobody ever brings it."""

    given_up = threading.Event()

    def get_tuple(self, config: Any) -> Any:
        try:
            return super().get_tuple(config)
        except sqlite3.Error:
            # Waits that end, so that the thread can be ended; long ones, which are no work.
            while not self.given_up.wait(60):
                pass
            raise


@pytest.mark.parametrize(
    ("database", "limit_s", "blamed", "unknown"),
    [
        (NeverReleasing, worker.LIMIT_S, {"usable-after"}, {"all-or-nothing": "cut off"}),
        by_night(AlwaysAskingAgain, 0.5, set(), {"usable-after": "something still moves"}),
    ],
)
def test_a_lock_that_is_never_released_is_blamed_if_nothing_moves_and_cuts_the_sweep_off(
    database: type[Database],
    limit_s: float,
    blamed: set[str],
    unknown: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    NeverReleasing.given_up.clear()
    monkeypatch.setattr(worker, "LIMIT_S", limit_s)
    monkeypatch.setattr(bench, "Worker", lambda *_: worker.Worker(0.5))
    # Savers of other tests that hang may have left theirs in this process.
    before = {*threading.enumerate()}
    outcome = judged(target_of(database), tmp_path, operations=["put", "put_writes"])
    left = [t for t in threading.enumerate() if t.name == worker.NAME and t not in before]
    assert left
    NeverReleasing.given_up.set()
    for thread in left:
        thread.join()
    assert found(outcome) == blamed
    for contract, why in unknown.items():
        assert why in outcome.unknown[f"atomicity/{contract}"]


class ComingBack(Database):
    """Does not answer after a failure, until another saver is opened."""

    gate = threading.Event()
    failed = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        ComingBack.gate.set()
        ComingBack.gate = threading.Event()

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
        except sqlite3.OperationalError:
            self.failed = True
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self.failed:
            self.failed = False
            ComingBack.gate.wait()
        with super().reading():
            yield


def test_a_call_that_comes_back_after_it_was_given_up_disturbs_no_other_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "Worker", lambda *_: worker.Worker(0.5))
    heard: list[str] = []
    going_on = worker.Worker.say

    def say(self: worker.Worker, stage: str) -> None:
        if threading.current_thread() is not self.thread:
            heard.append(stage)
        going_on(self, stage)

    monkeypatch.setattr(worker.Worker, "say", say)
    outcome = judged(target_of(ComingBack), tmp_path, operations=["put", "put_writes"])
    ComingBack.gate.set()
    assert found(outcome) == {"usable-after"}
    assert heard == []


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_call_that_comes_back_does_not_use_the_loop_of_the_next_trial(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would meet the next trial there, and an event loop runs one call at a time."""
    monkeypatch.setattr(bench, "Worker", lambda *_: worker.Worker(0.5))
    caller, gate = bench.CallerThread(api), threading.Event()
    first, seen = caller.loop, list[Loop]()

    def come_back() -> None:
        gate.wait()
        seen.append(caller.loop)

    given_up = caller.worker
    with pytest.raises(worker.HungError):
        given_up.run(come_back)
    caller.renew()
    gate.set()
    given_up.thread.join()
    assert seen == [first]
    assert caller.worker.run(lambda: caller.loop) is caller.loop is not first
    caller.close()


def test_nothing_is_counted_for_a_worker_that_was_given_up() -> None:
    """Another trial is under way when its call returns after all."""
    given_up = worker.Worker()
    given_up.abandoned = True
    waiting = cast(bench.FaultBench, SimpleNamespace(worker=given_up))
    with pytest.raises(worker.AbandonedError), counting_places(waiting, "store", ()):
        pass
    given_up.close()


def test_a_read_that_never_returns_once_its_storage_failed_is_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WaitingOnceItFailed.given_up.clear()
    monkeypatch.setattr(bench, "Worker", lambda *_: worker.Worker(0.5))
    outcome = judged(of_class(WaitingOnceItFailed), tmp_path, operations=["put", "get_tuple"])
    WaitingOnceItFailed.given_up.set()
    [told] = (each for each in outcome.findings if each.contract.endswith("failed-reads-raise"))
    assert told.observed == "it never returned"
    assert not told.reproducer
