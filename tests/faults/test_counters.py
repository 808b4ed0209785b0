"""What an operation costs is counted to the last, and nothing else is."""

from __future__ import annotations

import os
import queue
import socket
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import repeat
from pathlib import Path

import pytest

from saverproof_faults.counters import Meter
from saverproof_faults.counters.lines import LineCounter


@pytest.fixture
def meter() -> Iterator[Meter]:
    with Meter() as entered:
        yield entered


def counts(meter: Meter, operation: Callable[[], object]) -> dict[str, int]:
    with meter.counting() as counted:
        operation()
    return dict(counted.counts)


def go_round(times: int) -> None:
    for _ in range(times):
        pass


def comprehend(times: int) -> list[int]:
    return [number for number in range(times) if number < 0]


@pytest.mark.parametrize("loop", [go_round, comprehend])
def test_each_round_of_a_loop_is_a_line(meter: Meter, loop: Callable[[int], object]) -> None:
    few, many = (counts(meter, lambda times=times: loop(times))["lines"] for times in (10, 110))
    assert many - few in (100, 200)


def test_lines_of_other_threads_count() -> None:
    with LineCounter() as counter:
        begin, end = threading.Event(), threading.Event()

        def work() -> None:
            begin.wait()
            go_round(1_000)
            end.set()

        thread = threading.Thread(target=work)
        thread.start()
        with counter.counting():
            begin.set()
            end.wait()
        thread.join()
    assert counter.lines > 1_000


def test_lines_of_a_thread_after_its_answer_count(meter: Meter) -> None:
    with answering_thread() as ask:
        counted = {counts(meter, ask)["lines"] for _ in range(5)}
    assert len(counted) == 1
    assert min(counted) > 10_000


@contextmanager
def answering_thread() -> Iterator[Callable[[], None]]:
    """A thread that answers, and then works on for a while."""
    questions: queue.SimpleQueue[threading.Event | None] = queue.SimpleQueue()

    def work() -> None:
        while (answer := questions.get()) is not None:
            answer.set()
            go_round(10_000)

    def ask() -> None:
        answer = threading.Event()
        questions.put(answer)
        answer.wait()

    thread = threading.Thread(target=work)
    thread.start()
    yield ask
    questions.put(None)
    thread.join()


def test_how_often_a_coroutine_goes_on_where_it_waited_is_no_line() -> None:
    class Waiting:
        def __init__(self, times: int) -> None:
            self.times = times

        def __await__(self) -> Iterator[None]:
            return iter([None] * self.times)

    async def waits(times: int) -> None:
        await Waiting(times)

    counts = []
    with LineCounter() as counter:
        for times in (1, 50):
            with counter.counting():
                # It goes through all that is to be waited for, in C.
                deque(waits(times).__await__(), maxlen=0)
            counts.append(counter.lines)
    assert counts[0] == counts[1] > 0


def test_a_tracer_of_somebody_else_is_put_back() -> None:
    before = sys.gettrace()
    with LineCounter() as counter:
        with counter.counting():
            assert sys.gettrace() is not before
        assert sys.gettrace() is before
    assert threading.gettrace() is None or threading.gettrace() is before


def test_packages_are_left_out_by_their_names() -> None:
    with LineCounter(frozenset({"tests.faults"})) as counter, counter.counting():
        go_round(1_000)
    assert counter.lines < 20


def test_bytes_of_files_count_and_not_those_of_the_counter(meter: Meter, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 5_000)
    idle = counts(meter, lambda: None)
    assert (idle["read"], idle["written"]) == (0, 0)
    assert counts(meter, file.read_bytes)["read"] == 5_000
    assert counts(meter, lambda: file.write_bytes(b"y" * 300))["written"] == 300


def test_system_calls_for_files_count_whoever_makes_them(meter: Meter, tmp_path: Path) -> None:
    idle = counts(meter, lambda: None)
    assert (idle["reads"], idle["writes"]) == (0, 0)
    # Nor does what the counter executes itself, but for the ends of its blocks.
    assert idle["lines"] < 40
    with (tmp_path / "file").open("w+b", buffering=0) as file:

        def many() -> None:
            for _ in range(30):
                file.write(b"x")
            deque(map(os.pread, repeat(file.fileno()), repeat(1), range(50)), maxlen=0)

        def elsewhere() -> None:
            thread = threading.Thread(target=many)
            thread.start()
            thread.join()

        for each in (many, elsewhere):
            counted = counts(meter, each)
            assert (counted["reads"], counted["writes"]) == (50, 30)


def test_messages_are_no_reads_and_writes_of_files(meter: Meter) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        counted = counts(meter, lambda: (ours.sendall(b"x"), theirs.recv(1)))
    assert (counted["reads"], counted["writes"]) == (0, 0)


def test_bytes_of_connections_count(meter: Meter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname())
        theirs, _ = listening.accept()
        with ours, theirs:

            def talk() -> None:
                ours.sendall(b"x" * 700)
                assert len(theirs.recv(700, socket.MSG_WAITALL)) == 700

            counted = counts(meter, talk)
    # How many reads they take depends on what has arrived.
    assert counted.keys().isdisjoint({"reads", "writes"})
    assert {"reads", "writes"} < counts(meter, lambda: None).keys()
    # Both ends are in this process.
    assert (counted["read"], counted["written"]) == (700, 700)


def test_what_is_held_at_once_counts_even_if_it_is_thrown_away(meter: Meter) -> None:
    assert counts(meter, lambda: max([bytes(1_000) for _ in range(500)]))["memory"] > 500_000
    assert counts(meter, lambda: max(bytes(1_000) for _ in range(500)))["memory"] < 50_000


def test_what_sqlite_does_inside_of_a_statement_counts(meter: Meter, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, f"{n}") for n in range(100)])
        connection.commit()

        def by_key() -> object:
            return connection.execute("SELECT name FROM t WHERE id = 7").fetchall()

        def by_scan() -> object:
            return connection.execute("SELECT id FROM t WHERE name = '7'").fetchall()

        def by_sorting() -> object:
            return connection.execute("SELECT id FROM t ORDER BY name LIMIT 1").fetchall()

        # Twice: what a statement counted is not counted again when it runs again.
        for _ in range(2):
            key, scan, sort = (counts(meter, each) for each in (by_key, by_scan, by_sorting))
            assert (key["scanned"], scan["scanned"], sort["sorts"]) == (0, 99, 1)
            assert key["steps"] < 20 < 200 < scan["steps"]
            assert key["statements"] == key["calls"] == 1
