"""What the kill harness runs in its own tests: plain sqlite3 programs, right and wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from saverproof_faults.io import IoEach, IoWatch
from saverproof_faults.kill import Acks

OPERATIONS = 6
ROWS = 3

Arguments = Mapping[str, Any]


def opened(arguments: Arguments) -> sqlite3.Connection:
    connection = sqlite3.connect(arguments["path"], isolation_level=None, timeout=20)
    connection.execute("pragma journal_mode=wal").fetchone()
    connection.execute("create table if not exists t(writer, operation)")
    return connection


def one_transaction(connection: sqlite3.Connection, writer: int, operation: int) -> None:
    connection.execute("begin immediate")
    connection.executemany("insert into t values (?, ?)", [(writer, operation)] * ROWS)
    connection.execute("commit")


def operate(acks: Acks, connection: sqlite3.Connection, writer: int) -> None:
    for operation in range(OPERATIONS):
        acks.started(operation)
        one_transaction(connection, writer, operation)
        acks.acknowledged(operation)


def write(acks: Acks, arguments: Arguments) -> str:
    """Each operation a transaction of its own; places are statements."""
    with closing(opened(arguments)) as connection:
        connection.set_trace_callback(acks.reached)
        operate(acks, connection, 0)
    return "done"


def write_counting_io(acks: Acks, arguments: Arguments) -> None:
    """The same with I/O calls for places."""
    with IoWatch(Path(arguments["path"]).parent) as watch, closing(opened(arguments)) as connection:
        watch.arm(IoEach(acks.reached))
        operate(acks, connection, 0)


def write_lazily(acks: Acks, arguments: Arguments) -> None:
    """Wrong: commits every third operation."""
    with closing(opened(arguments)) as connection:
        connection.set_trace_callback(acks.reached)
        connection.execute("begin immediate")
        for operation in range(OPERATIONS):
            acks.started(operation)
            connection.executemany("insert into t values (0, ?)", [(operation,)] * ROWS)
            if operation % 3 == 2:
                connection.execute("commit")
                connection.execute("begin immediate")
            acks.acknowledged(operation)
        connection.execute("commit")


def write_rows(acks: Acks, arguments: Arguments) -> None:
    """Wrong: a transaction for each row of an operation."""
    with closing(opened(arguments)) as connection:
        connection.set_trace_callback(acks.reached)
        for operation in range(OPERATIONS):
            acks.started(operation)
            for _ in range(ROWS):
                connection.execute("insert into t values (0, ?)", (operation,))
            acks.acknowledged(operation)


def write_unsynced(acks: Acks, arguments: Arguments) -> None:
    """Wrong in a power cut alone: nothing is ever synced."""
    with closing(opened(arguments)) as connection:
        connection.execute("pragma synchronous=off")
        connection.set_trace_callback(acks.reached)
        operate(acks, connection, 0)


def write_until_alone(acks: Acks, arguments: Arguments) -> int:
    """A survivor: goes on until the other writer is dead, and five operations more."""
    operation = 0
    with closing(opened(arguments)) as connection:
        while not acks.alone():
            one_transaction(connection, 1, operation % 1000)
            operation += 1
            # SQLite's lock is not fair: a writer that never reads would starve the other.
            for _ in range(100):
                connection.execute("select count(*) from t").fetchone()
        for later in range(1000, 1005):
            acks.started(later)
            one_transaction(connection, 1, later)
            acks.acknowledged(later)
    return operation


def read(arguments: Arguments) -> dict[str, Any]:
    """Rows of each operation of writer 0, and whether the store is sound."""
    with closing(opened(arguments)) as connection:
        (check,) = connection.execute("pragma integrity_check").fetchone()
        counts = dict(
            connection.execute("select operation, count(*) from t where writer = 0 group by 1")
        )
        survivor = [
            number
            for (number,) in connection.execute(
                "select distinct operation from t where writer = 1 and operation >= 1000"
            )
        ]
        one_transaction(connection, 2, 0)
    return {
        "check": check,
        "whole": [number for number, rows in counts.items() if rows == ROWS],
        "torn": [number for number, rows in counts.items() if rows != ROWS],
        "survivor": sorted(survivor),
    }


def raise_oserror(acks: Acks, arguments: Arguments) -> None:
    acks.started(1)
    raise OSError("disk full")


def leave(acks: Acks, arguments: Arguments) -> None:
    print("said before leaving", flush=True)  # noqa: T201 - what the harness should catch
    os._exit(7)


def terminate(acks: Acks, arguments: Arguments) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def kill_unplanned(acks: Acks, arguments: Arguments) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def return_a_set(acks: Acks, arguments: Arguments) -> set[int]:
    return {1}


def return_much(acks: Acks, arguments: Arguments) -> str:
    return "x" * 1_000_000


def mark_beyond(acks: Acks, arguments: Arguments) -> None:
    acks.started(1 << 20)


def hang_in_a_thread(acks: Acks, arguments: Arguments) -> None:
    """Waits inside C, in two threads."""
    other = threading.Thread(target=wait_for_ever, daemon=True)
    other.start()
    wait_for_ever()


def wait_for_ever() -> None:
    threading.Event().wait()


def start_a_process(acks: Acks, arguments: Arguments) -> int:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pid = process.pid
    process.returncode = 0
    return pid


def tell_pids(acks: Acks, arguments: Arguments) -> None:
    """Write this process's and its parent's numbers, then hang."""
    path = Path(arguments["path"])
    path.with_suffix(".part").write_text(f"{os.getpid()} {os.getppid()}")
    path.with_suffix(".part").rename(path)
    wait_for_ever()


def spin(acks: Acks, arguments: Arguments) -> None:
    """Runs for a long time without waiting; places are turns."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        acks.reached()


def wait_afresh(arguments: Arguments) -> None:
    wait_for_ever()
