"""The saver whose whole state is one row, called in the middle of its own operations; forks."""

import copy
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers import SnapshotSqliteSaver
from tests.savers.helpers import at, number_of, numbers, put, writes_of


class Calling(JsonPlusSerializer):
    """Calls back, once, while a value is encoded or decoded, as a finalizer or signal handler may.

    Only in values: what is encoded before and after is left alone.
    """

    call: Callable[[], object] | None = None

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        self._call()
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        self._call()
        return super().loads_typed(data)

    def _call(self) -> None:
        call, self.call = self.call, None
        if call is not None:
            call()


def run_in_child(work: Callable[[], object]) -> bool:
    """Whether `work` is done without an error, and at all, in a forked child."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_a_write_within_a_write_is_refused_and_harms_nothing(path: Path, where: str) -> None:
    serde = Calling()
    with SnapshotSqliteSaver(path if where == "file" else where, serde=serde) as saver:
        for number in (1, 2):
            put(saver, number, thread_id=f"thread-{number}")
        told: list[str] = []

        def delete() -> None:
            try:
                saver.delete_thread("thread-1")
            except sqlite3.ProgrammingError as error:
                told.append(str(error))

        serde.call = delete
        put(saver, 3, {"a": [1]}, thread_id="thread-3")
        assert told == [
            f"{saver.path or 'the database in memory'}: "
            "the saver was called from inside one of its own operations"
        ]
        clone = copy.copy(saver)
        for each in (saver, clone):
            assert [number_of(found) for found in each.list(None)] == [3, 2, 1]
        serde.call = delete
        saver.put_writes(at("thread-1", 1), [("a", 1)], "task")
        assert writes_of(saver, 1, "thread-1") == [("a", 1)]
        assert [number_of(found) for found in saver.list(None)] == [3, 2, 1]


def test_a_refused_write_that_is_not_caught_undoes_the_outer_one(path: Path) -> None:
    serde = Calling()
    with SnapshotSqliteSaver(path, serde=serde) as saver:
        put(saver, 1)
        serde.call = lambda: saver.delete_thread("thread")
        with pytest.raises(sqlite3.ProgrammingError, match="inside one of its own operations"):
            put(saver, 2, {"a": [1]})
        assert numbers(saver) == [1]


def test_a_read_within_a_write_sees_what_is_stored(path: Path) -> None:
    serde = Calling()
    with SnapshotSqliteSaver(path, serde=serde) as saver:
        put(saver, 1)
        seen: list[list[int]] = []
        serde.call = lambda: seen.append(numbers(saver, at("unknown")) + numbers(saver))
        saver.put_writes(at(number=1), [("a", 1), ("b", 2)], "task")
        assert seen == [[1]]
        assert writes_of(saver, 1) == [("a", 1), ("b", 2)]


def test_a_write_within_a_read_leaves_the_read_as_it_was(path: Path) -> None:
    serde = Calling()
    with SnapshotSqliteSaver(path, serde=serde) as saver:
        for number in (1, 2):
            put(saver, number, namespace=f"node:{number}")
        serde.call = lambda: put(saver, 3, namespace="node:3")
        assert numbers(saver) == [2, 1]
        assert numbers(saver) == [3, 2, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_goes_on_whatever_the_threads_of_its_parent_do(path: Path) -> None:
    serde = Calling()
    inside, done = threading.Event(), threading.Event()

    def stay() -> None:
        inside.set()
        done.wait(60)

    with SnapshotSqliteSaver(path, serde=serde) as saver:
        put(saver, 1)
        clone = copy.copy(saver)
        serde.call = stay
        # Not in a write: a fork waits for those.
        thread = threading.Thread(target=numbers, args=(saver,))
        thread.start()
        try:
            assert inside.wait(60)

            def read() -> None:
                assert numbers(saver) == numbers(clone) == [1]

            assert run_in_child(read)
        finally:
            done.set()
            thread.join()
        assert numbers(saver) == [1]
