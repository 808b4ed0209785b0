"""Operations per second on one store: the bundled SQLite saver beside the official one.

An operation is a put, a put_writes of three writes, or a get_tuple of the latest, in turn. Threads
share one saver and each work on a thread of their own; processes open a saver each. The two savers
take turns, round after round, so that a busy machine slows both alike; the best round counts.

    python tests/benchmarks/bench_concurrency.py --rounds 3 --operations 200
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import click
from langgraph.checkpoint.sqlite import SqliteSaver as OfficialSaver
from rich.console import Console
from rich.table import Table

from saverproof.programs.steps.identifiers import mint, task_id, timestamp
from saverproof_savers import SqliteSaver

THREADS = (1, 2, 4, 8)
PROCESSES = (1, 2, 4)
Opener = Callable[[str], AbstractContextManager[Any]]


def bundled(folder: str) -> AbstractContextManager[Any]:
    """The bundled saver on a file."""
    return SqliteSaver.open(f"{folder}/bundled.db")


def official(folder: str) -> AbstractContextManager[Any]:
    """The official saver on a file."""
    return OfficialSaver.from_conn_string(f"{folder}/official.db")


SAVERS: dict[str, Opener] = {"bundled": bundled, "official": official}


def work(saver: Any, thread: str, operations: int) -> None:
    """Put, add writes, and read, over and over."""
    version: Any = None
    for turn in range(operations):
        number = turn // 3 + 1
        config: dict[str, Any] = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        if turn % 3 == 0:
            version = saver.get_next_version(version, None)
            if number > 1:
                config["configurable"]["checkpoint_id"] = mint(number - 1)
            checkpoint = {
                "v": 4,
                "ts": timestamp(number),
                "id": mint(number),
                "channel_values": {"messages": "a message " * 20, "count": number},
                "channel_versions": {"messages": version, "count": version},
                "versions_seen": {},
                "updated_channels": ["count", "messages"],
            }
            versions = {"messages": version, "count": version}
            saver.put(config, checkpoint, {"source": "loop", "step": number}, versions)
        elif turn % 3 == 1:
            config["configurable"]["checkpoint_id"] = mint(number)
            writes = [("count", number), ("messages", "one"), ("messages", "two")]
            saver.put_writes(config, writes, task_id(number))
        else:
            saver.get_tuple(config)


def by_threads(opener: Opener, folder: str, count: int, operations: int) -> float:
    """Seconds that so many threads on one saver take."""
    with opener(folder) as saver:
        work(saver, "warm", 3)
        barrier = threading.Barrier(count + 1)

        def share(name: str) -> None:
            barrier.wait()
            work(saver, name, operations // count)

        threads = [threading.Thread(target=share, args=(f"thread {n}",)) for n in range(count)]
        for thread in threads:
            thread.start()
        barrier.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        return time.perf_counter() - began


def by_processes(opener: Opener, folder: str, count: int, operations: int) -> float:
    """Seconds that so many processes with a saver each take."""
    with opener(folder) as saver:
        work(saver, "warm", 3)
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count + 1)
    ends = context.Queue()
    arguments = (opener, folder, operations // count, barrier, ends)
    processes = [
        context.Process(target=_share, args=(f"process {n}", *arguments)) for n in range(count)
    ]
    for process in processes:
        process.start()
    barrier.wait()
    began = time.perf_counter()
    # The end of an interpreter takes its time, and is none of the saver's.
    taken = max(ends.get() for _ in processes) - began
    for process in processes:
        process.join()
    failed = [process.exitcode for process in processes if process.exitcode]
    if failed:
        raise SystemExit(f"{len(failed)} of {count} processes failed, exit codes {failed}")
    return taken


def _share(
    name: str, opener: Opener, folder: str, operations: int, barrier: Any, ends: Any
) -> None:
    with opener(folder) as saver:
        work(saver, f"warm {name}", 3)
        barrier.wait()
        try:
            work(saver, name, operations)
        finally:
            ends.put(time.perf_counter())


@click.command()
@click.option("--rounds", default=3, show_default=True, help="How often everything is measured.")
@click.option("--operations", default=1_200, show_default=True, help="Operations of a measurement.")
def main(rounds: int, operations: int) -> None:
    """Print operations per second for threads and for processes on each saver."""
    cases = [("threads", n, by_threads) for n in THREADS]
    cases += [("processes", n, by_processes) for n in PROCESSES]
    best: dict[tuple[str, int, str], float] = {}
    for _ in range(rounds):
        for kind, count, measure in cases:
            for name, opener in SAVERS.items():
                with tempfile.TemporaryDirectory() as folder:
                    seconds = partial(measure, opener, folder, count, operations)()
                done = operations // count * count / seconds
                best[kind, count, name] = max(best.get((kind, count, name), 0.0), done)
    table = Table(title=f"operations per second, the best of {rounds} rounds of {operations}")
    for column in ("", *SAVERS, "bundled / official"):
        table.add_column(column, justify="left" if not column else "right")
    for kind, count, _ in cases:
        figures = [best[kind, count, name] for name in SAVERS]
        singular = {"threads": "thread", "processes": "process"}[kind]
        label = f"{count} {kind if count > 1 else singular}"
        ratio = f"{figures[0] / figures[1]:.2f}"
        table.add_row(label, *(f"{figure:,.0f}" for figure in figures), ratio)
    Console(file=sys.stdout).print(table)


if __name__ == "__main__":
    main()
