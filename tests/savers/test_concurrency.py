"""Threads, tasks and processes on one store, and calls that are cut short."""

import asyncio
import copy
import multiprocessing
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from saverproof_savers import SnapshotSqliteSaver, SqliteSaver, files
from tests.savers.faulty import Plan
from tests.savers.helpers import at, make, number_of, numbers, put, values_of, writes_of

SAVERS = {"sqlite": SqliteSaver.open, "snapshot": SnapshotSqliteSaver}
WORKERS, STEPS = 6, 12


def work(saver: Any, name: str) -> None:
    for number in range(1, STEPS + 1):
        put(saver, number, {"a": number}, thread_id=name, parent=number - 1 or None)
        saver.put_writes(at(name, number), [("a", n) for n in range(3)], "task")
        assert values_of(saver, number, name) == {"a": number}


def check_all(saver: Any) -> None:
    for worker in range(WORKERS):
        name = f"worker {worker}"
        assert numbers(saver, at(name)) == list(range(STEPS, 0, -1))
        for number in range(1, STEPS + 1):
            assert values_of(saver, number, name) == {"a": number}
            assert len(writes_of(saver, number, name)) == 3


def test_threads_lose_nothing(any_saver: SqliteSaver) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda worker: work(any_saver, f"worker {worker}"), range(WORKERS)))
    check_all(any_saver)


def test_tasks_lose_nothing(any_saver: SqliteSaver) -> None:
    async def one(name: str) -> None:
        for number in range(1, STEPS + 1):
            made = make(number, {"a": number})
            await any_saver.aput(at(name, number - 1 or None), made, {}, {"a": number})
            writes = [("a", n) for n in range(3)]
            await any_saver.aput_writes(at(name, number), writes, "task")
            found = await any_saver.aget_tuple(at(name))
            assert found is not None
            assert number_of(found) == number

    async def everyone() -> None:
        await asyncio.gather(*(one(f"worker {worker}") for worker in range(WORKERS)))

    asyncio.run(everyone())
    check_all(any_saver)


def process(kind: str, path: str, name: str, start: Any, failures: Any) -> None:
    start.wait()
    try:
        with SAVERS[kind](path) as saver:
            work(saver, name)
    except Exception as error:  # noqa: BLE001 - told to the parent
        failures.put(f"{name}: {error!r}")


@pytest.mark.parametrize("kind", SAVERS)
def test_processes_may_create_a_store_together_and_lose_nothing(path: Path, kind: str) -> None:
    context = multiprocessing.get_context("spawn")
    start, failures = context.Barrier(WORKERS), context.Queue()
    processes = [
        context.Process(target=process, args=(kind, str(path), f"worker {n}", start, failures))
        for n in range(WORKERS)
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    assert [each.exitcode for each in processes] == [0] * WORKERS
    assert failures.empty(), failures.get()
    with SAVERS[kind](path) as saver:
        check_all(saver)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_a_forked_child_opens_connections_of_its_own(path: Path, where: str) -> None:
    with SqliteSaver.open(path if where == "file" else where) as saver:
        put(saver, 1, {"a": "parent"})
        asyncio.run(saver.aget_tuple(at()))
        child = os.fork()
        if child == 0:  # pragma: no cover - measured in the parent only
            try:
                put(saver, 2, {"a": "child"})
                right = numbers(saver) == [2, 1]
                saver.close()
                os._exit(0 if right else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        put(saver, 3, {"a": "parent"})
        assert numbers(saver) == ([3, 2, 1] if where == "file" else [3, 1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_outlives_the_parents_saver(path: Path) -> None:
    """SQLite's locks are not inherited: the parent's last close must not take the child's log."""
    told, tell = os.pipe()
    with SqliteSaver.open(path) as saver:
        put(saver, 1)
        numbers(saver)
        child = os.fork()
        if child == 0:  # pragma: no cover - measured in the parent only
            try:
                put(saver, 2)
                os.read(told, 1)
                for number in (3, 4, 5):
                    put(saver, number)
                os._exit(0)
            finally:
                os._exit(2)
        put(saver, 6)
    os.write(tell, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(told)
    os.close(tell)
    with SqliteSaver.open(path) as saver:
        assert numbers(saver) == [6, 5, 4, 3, 2, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forks_among_threads_that_read_and_write(path: Path) -> None:
    stop = threading.Event()
    failures: list[sqlite3.Error] = []

    def work(number: int) -> None:
        try:
            while not stop.is_set():
                put(saver, number, thread_id=str(number))
                numbers(saver, at(str(number)))
        except sqlite3.Error as error:
            failures.append(error)

    with SqliteSaver.open(path) as saver:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for each in threads:
            each.start()
        try:
            for number in range(6):
                child = os.fork()
                if child == 0:  # pragma: no cover - measured in the parent only
                    try:
                        put(saver, number, thread_id="child")
                        os._exit(0 if number in numbers(saver, at("child")) else 1)
                    finally:
                        os._exit(2)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        finally:
            stop.set()
            for each in threads:
                each.join()
        assert not failures
        assert numbers(saver, at("child")) == [5, 4, 3, 2, 1, 0]


def test_a_writer_that_waits_for_another_process_blocks_no_reader(path: Path) -> None:
    with SqliteSaver.open(path, busy_timeout_ms=30_000) as saver:
        put(saver, 1, {"a": 1})
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writer = threading.Thread(target=put, args=(saver, 2))
            writer.start()
            for _ in range(20):
                assert numbers(saver) == [1]
            asyncio.run(saver.aget_tuple(at()))
            assert writer.is_alive()
            other.execute("ROLLBACK")
        writer.join()
        assert numbers(saver) == [2, 1]


def test_a_sync_call_on_the_event_loop_answers(any_saver: SqliteSaver) -> None:
    async def main() -> None:
        pending = asyncio.create_task(any_saver.aput(at(), make(1, {"a": 1}), {}, {"a": 1}))
        put(any_saver, 2, {"a": 2})
        assert 2 in numbers(any_saver)
        await pending
        assert numbers(any_saver) == [2, 1]
        any_saver.delete_thread("thread")
        assert any_saver.get_tuple(at()) is None

    asyncio.run(main())


@pytest.mark.parametrize("steps", range(6))
def test_a_cancelled_call_is_all_or_nothing_once_it_has_ended(
    any_saver: SqliteSaver, steps: int
) -> None:
    put(any_saver, 1)

    async def main() -> list[tuple[str, Any]]:
        batch = [("a", n) for n in range(50)]
        call = asyncio.create_task(any_saver.aput_writes(at(number=1), batch, "task"))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        (ended,) = await asyncio.gather(call, return_exceptions=True)
        # The call may have been done already.
        assert ended is None or isinstance(ended, asyncio.CancelledError)
        seen = writes_of(any_saver, 1)
        assert seen in ([], batch)
        await any_saver.aput_writes(at(number=1), [("b", 1)], "other")
        assert writes_of(any_saver, 1) == [("b", 1), *seen]
        return seen

    asyncio.run(main())


def test_a_call_cancelled_twice_while_it_runs_still_ends_settled(path: Path, plan: Plan) -> None:
    entered, go_on = threading.Event(), threading.Event()
    # By then something is deleted, and not committed.
    plan.fails_at, plan.when = "COMMIT", "before"

    def slow() -> OSError:
        entered.set()
        assert go_on.wait(30)
        return OSError("after the cancellation")

    plan.error = slow

    async def main(saver: SqliteSaver) -> None:
        call = asyncio.create_task(saver.adelete_thread("thread"))
        while not entered.is_set():
            await asyncio.sleep(0)
        queued = asyncio.create_task(saver.adelete_thread("thread"))
        await asyncio.sleep(0)
        for task in (call, call, queued):
            task.cancel()
            await asyncio.sleep(0)
        assert not call.done()
        go_on.set()
        for task in (call, queued):
            with pytest.raises(asyncio.CancelledError):
                await task

    with SqliteSaver.open(path) as saver:
        put(saver, 1, {"a": 1})
        plan.armed = True
        asyncio.run(main(saver))
        plan.armed = False
        assert any(statement.startswith("DELETE") for statement in plan.statements)
        # The call that waited for its turn was dropped.
        assert plan.statements.count("BEGIN IMMEDIATE") == 1
        assert values_of(saver, 1) == {"a": 1}


def test_closing_ends_the_threads(path: Path) -> None:
    before = threading.active_count()
    saver = SqliteSaver.open(path)

    async def main() -> None:
        async with saver:
            await saver.aput(at(), make(1), {}, {})
            assert [number_of(each) async for each in saver.alist(at())] == [1]

    asyncio.run(main())
    assert threading.active_count() == before


def test_more_readers_than_are_kept_are_closed_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(12)
    waits = False
    readers: list[sqlite3.Connection] = []

    class Together(sqlite3.Cursor):
        """Waits, when a transaction begins in which it reads, until all the others do."""

        def execute(self, sql: str, parameters: Any = (), /) -> Any:
            if waits and sql == "BEGIN":
                readers.append(self.connection)
                together.wait(30)
            return super().execute(sql, parameters)

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> Any:
            return self.cursor(Together).execute(sql, parameters)

    monkeypatch.setattr(files.sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
    with SqliteSaver.open(path) as saver, ThreadPoolExecutor(12) as pool:
        put(saver, 1)
        waits = True
        found = [pool.submit(saver.get_tuple, at()) for _ in range(12)]
        assert [number_of(each.result()) for each in found] == [1] * 12  # type: ignore[arg-type]
        assert len(set(readers)) == 12
        assert sum(map(is_open, readers)) == 8
    assert not any(map(is_open, readers))


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def test_a_clone_shares_the_store_and_leaves_it_open(any_saver: SqliteSaver) -> None:
    put(any_saver, 1, {"a": 1})
    clone = copy.copy(any_saver)
    assert values_of(clone, 1) == {"a": 1}
    put(clone, 2, {"a": 2})
    clone.close()
    del clone
    assert values_of(any_saver, 2) == {"a": 2}
    put(any_saver, 3)
