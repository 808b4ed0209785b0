"""Kill trials per second: the harness beside two bare subprocesses, and beside a bare fork.

A trial opens a new SQLite store, commits ten operations, is killed by SIGKILL in the middle, and
is looked at from another process. The three ways take turns, so that a busy machine slows all of
them alike. `--import langgraph.checkpoint.sqlite` shows what loading a saver's library costs each.
Aim: 50 times as many trials as the naive way, and within twice the cost of a bare fork.
"""

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from saverproof_faults.kill import Acks, Harness, KillAt

OPERATIONS = 10
PLACES = 3 * OPERATIONS


class Counter:
    """Stands in for `Acks` where there is no harness: places only."""

    def __init__(self, place: int) -> None:
        self._place, self._count = place, 0

    def reached(self, *_: object) -> None:
        """Die at the planned place."""
        self._count += 1
        if self._count == self._place:
            os.kill(os.getpid(), signal.SIGKILL)


def work(path: str, reached: Callable[..., None], acknowledged: Callable[[int], None]) -> None:
    """Ten operations; each has three statements, before which `reached` is called."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE rows (number INTEGER, text)")
        connection.set_trace_callback(reached)
        for number in range(OPERATIONS):
            with connection:
                connection.execute("INSERT INTO rows VALUES (?, 'text')", (number,))
            acknowledged(number)


def write(acks: Acks, arguments: Mapping[str, Any]) -> None:
    """The trial's body."""
    work(arguments["path"], acks.reached, acks.acknowledged)


def read(arguments: Mapping[str, Any]) -> int:
    """The read-back."""
    with closing(sqlite3.connect(arguments["path"])) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute("SELECT count(*) FROM rows").fetchone()[0])


def naive(path: str, place: int, imports: str) -> None:
    """Two subprocesses, which import everything."""
    head = f"import sys; sys.path[:] = {sys.path!r}; {imports}import bench_kill as b; "
    writer = f"b.work({path!r}, b.Counter({place}).reached, lambda number: None)"
    reader = f"b.read({{'path': {path!r}}})"
    first = subprocess.run([sys.executable, "-c", head + writer], check=False)
    assert first.returncode == -signal.SIGKILL
    subprocess.run([sys.executable, "-c", head + reader], check=True)


def bare(path: str, place: int, look: Callable[[Mapping[str, Any]], object]) -> None:
    """A fork that is killed and buried, and a look; no marks, no watch, no deadline."""
    pid = os.fork()
    if pid == 0:
        work(path, Counter(place).reached, lambda number: None)
        os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    look({"path": path})


def read_in_fork(arguments: Mapping[str, Any]) -> None:
    """The read-back in a fork of its own."""
    pid = os.fork()
    if pid == 0:
        read(arguments)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def harnessed(harness: Harness, path: str, place: int) -> None:
    """The harness, reading back in a second fork."""
    arguments = {"path": path}
    result = harness.trial("bench_kill:write", arguments, kill=KillAt.place(place)).require_kill()
    assert len(result.acknowledged) <= harness.look("bench_kill:read", arguments).value


def killed_only(harness: Harness, path: str, place: int) -> None:
    """The harness without reading back."""
    harness.trial("bench_kill:write", {"path": path}, kill=KillAt.place(place)).require_kill()


@click.command(help=__doc__)
@click.option("--trials", default=300, show_default=True, help="How many by each quick way.")
@click.option("--naive-trials", default=6, show_default=True, help="How many by subprocesses.")
@click.option("--import", "imports", multiple=True, help="A module that the target needs.")
@click.option("--scratch", type=click.Path(path_type=Path), help="Where the stores go.")
def main(trials: int, naive_trials: int, imports: tuple[str, ...], scratch: Path | None) -> None:
    for name in imports:
        importlib.import_module(name)
    prefix = "".join(f"import {name}; " for name in imports)
    path = [str(Path(__file__).parent), *sys.path]
    with (
        Harness([*imports, "bench_kill"], path=path, scratch=scratch) as harness,
        tempfile.TemporaryDirectory(dir=scratch) as folder,
    ):
        ways: dict[str, tuple[int, Callable[[str, int], None]]] = {
            "two subprocesses": (naive_trials, lambda to, at: naive(to, at, prefix)),
            "bare fork, look in a fork": (trials, lambda to, at: bare(to, at, read_in_fork)),
            "harness, look in a fork": (trials, lambda to, at: harnessed(harness, to, at)),
            "bare fork, look in process": (trials, lambda to, at: bare(to, at, read)),
            "harness, no look": (trials, lambda to, at: killed_only(harness, to, at)),
        }
        seconds = measured(ways, Path(folder))
        click.echo(f"processes are forked: {harness.reason or 'yes'}")
    naive_s = seconds["two subprocesses"]
    for name, mean_s in seconds.items():
        rate, times = 1 / mean_s, naive_s / mean_s
        click.echo(f"{name:28} {rate:8.1f} trials/s {mean_s * 1e3:8.2f} ms  x {times:6.1f}")
    ratio = seconds["harness, look in a fork"] / seconds["bare fork, look in a fork"]
    click.echo(f"the harness costs {ratio:.2f} times a bare fork, open, commit, kill and reopen")


def measured(
    ways: Mapping[str, tuple[int, Callable[[str, int], None]]], folder: Path
) -> dict[str, float]:
    """Mean seconds a trial takes by each way; they take turns in ten rounds."""
    spent = dict.fromkeys(ways, 0.0)
    rounds = 10
    number = 0
    for turn in range(rounds):
        for name, (trials, run) in ways.items():
            start = time.perf_counter()
            for _ in range(turn * trials // rounds, (turn + 1) * trials // rounds):
                number += 1
                run(str(folder / f"{number}.db"), 1 + number % PLACES)
            spent[name] += time.perf_counter() - start
    return {name: spent[name] / trials for name, (trials, _) in ways.items()}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
