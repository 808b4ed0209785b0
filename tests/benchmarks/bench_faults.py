"""Faults per second, by kind, against the bare operation: run this file.

The operation is a transaction with one executemany of ten rows on a connection that stays open, in
memory and in a file (in /dev/shm where there is one). A fault is: arm, operate, heal, roll back.
Aim: 1,000 statement faults a second in memory, 500 I/O faults a second.
"""

import argparse
import itertools
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import click

from saverproof_faults import Injector, Plan

ROWS = [(number, "x" * 100) for number in range(10)]
MEMORY = ":memory:"
SHARED_MEMORY = Path("/dev/shm")


def operation(connection: sqlite3.Connection) -> None:
    """Insert ten rows, or replace them, and commit."""
    connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", ROWS)
    connection.commit()


@contextmanager
def prepared(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to a database with two tables."""
    with closing(sqlite3.connect(path)) as connection:
        if path != MEMORY:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text)")
        connection.execute("CREATE TABLE others (number INTEGER PRIMARY KEY, text)")
        connection.commit()
        operation(connection)
        yield connection


def per_second(action: Callable[[], object], seconds: float) -> float:
    """How often `action` can be done in a second, measured over `seconds`."""
    done, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        action()
        done += 1
    return done / elapsed


def next_fault(injector: Injector, connection: sqlite3.Connection, plans: Iterator[Plan]) -> None:
    """One fault, from arming to a connection that can be used again."""
    plan = next(plans)
    with injector.armed(plan) as armed, suppress(sqlite3.Error):
        operation(connection)
    connection.rollback()
    armed.require_fired()


def measure(title: str, folder: str | None, seconds: float) -> None:
    """Print the rates for a database in `folder`, or in memory."""
    with prepared(f"{folder}/bare.db" if folder else MEMORY) as bare:
        bare_rate = per_second(lambda: operation(bare), seconds)
    path = f"{folder}/watched.db" if folder else MEMORY
    click.echo(f"{title}: bare operation {bare_rate:,.0f}/s")
    with Injector(folder=folder) as injector, prepared(path) as connection:
        idle = per_second(lambda: operation(connection), seconds)
        click.echo(
            f"  proxied and watched, nothing armed    {idle:8,.0f}/s  {bare_rate / idle:5.1f}x"
        )
        places = injector.count(lambda: operation(connection))
        by_kind: dict[str, list[Plan]] = {}
        for plan in places.plans():
            by_kind.setdefault(plan.fault.value, []).append(plan)
        for kind, plans in sorted(by_kind.items()):
            turn = itertools.cycle(plans)
            rate = per_second(partial(next_fault, injector, connection, turn), seconds)
            ratio = f"{bare_rate / rate:5.1f}x"
            click.echo(f"  {kind:<37} {rate:8,.0f}/s  {ratio}  ({len(plans)} places)")


def main() -> None:
    """Measure in memory and in a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="per figure")
    seconds = parser.parse_args().seconds
    measure("in memory", None, seconds)
    base = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        measure("file, WAL", folder, seconds)


if __name__ == "__main__":
    main()
