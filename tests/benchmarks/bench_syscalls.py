"""Faults, kills and disk images per second at system calls, and what holding the calls costs.

The operation replaces a file by a new one and syncs both the file and its folder: five calls. A
fault is: arm, operate, disarm. Beside the operation's own work it takes so much less as the calls
before the failing one take where nothing is held, measured in turn with it. A kill is: a process
forked, covered, killed at one of the calls and buried. An image is: a disk that a power cut in one
of many operations may leave, made from a recording and written to files. No saver is opened or
looked at, which is for each saver to pay. Aim: 20 us a call, and 2,000 faults a second beside the
operation's own work.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import Any

import click

from saverproof_faults.io import Recording
from saverproof_faults.io.data import recording_data, recording_from
from saverproof_faults.kill import Acks, Harness, KillAt
from saverproof_faults.power import PowerCuts, materialize
from saverproof_faults.syscalls import (
    CallFailure,
    CallFault,
    CallRecorder,
    CallWatch,
    ForkedCallWatch,
    available,
)

SHARED_MEMORY = Path("/dev/shm")
CALLS = 5
RECORDED = 20


def replacing(folder: Path) -> Iterator[None]:
    """The file "a" gets new contents, which last; stops before each call."""
    new = folder / "new"
    yield
    with open(new, "wb", buffering=0) as file:
        yield
        file.write(b"x" * 100)
        yield
        os.fsync(file.fileno())
    yield
    os.replace(new, folder / "a")
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replaced(folder: Path, calls: int = CALLS) -> None:
    """So many calls of that, or all."""
    with closing(replacing(folder)) as steps:
        for _ in islice(steps, calls + 1):
            pass


def seconds_each(action: Callable[[], object], seconds: float) -> float:
    """How long ``action`` takes, over ``seconds``."""
    start = time.perf_counter()
    for done in count(1):
        action()
        if (elapsed := time.perf_counter() - start) >= seconds:
            return elapsed / done
    raise AssertionError


def measured(folder: Path, where: str, seconds: float) -> None:
    """Print one line."""
    with CallWatch(folder) as watch, ThreadPoolExecutor(1) as thread:

        def each(action: Callable[[], object]) -> float:
            return thread.submit(seconds_each, action, seconds).result()

        bare = each(lambda: replaced(folder))
        thread.submit(watch.cover).result()
        held = each(lambda: replaced(folder))
        faults, whole, own = failed(folder, watch, thread, seconds)
    a_call = (held - bare) / CALLS
    # The syncs of a busy disk take from one moment to the next more time than all the rest.
    beside = f"{faults / (whole - own):6,.0f}" if whole > own else "nobody knows how many"
    click.echo(
        f"{where:8} bare {bare * 1e6:6,.0f} us, held {held * 1e6:6,.0f} us "
        f"({a_call * 1e6:4,.0f} us a call, {1 / a_call:7,.0f} notifications/s), "
        f"{faults / whole:6,.0f} faults/s, {beside} beside the operation's own work"
    )


def failed(
    folder: Path, watch: CallWatch, thread: ThreadPoolExecutor, seconds: float
) -> tuple[int, float, float]:
    """How many faults, how long they took, and how long the same calls take that nobody holds."""

    def fail(place: int) -> None:
        watch.arm(CallFault(place))
        with suppress(OSError):
            replaced(folder)
        watch.disarm()
        assert watch.fired

    faults, whole, own = 0, 0.0, 0.0
    while whole < seconds:
        place = 1 + faults % CALLS
        own += seconds_each(partial(replaced, folder, place - 1), 0)
        whole += thread.submit(seconds_each, partial(fail, place), 0).result()
        faults += 1
    return faults, whole, own


def killed(acks: Acks, arguments: Mapping[str, Any]) -> None:
    """The body of a trial: dies at a call."""
    with ForkedCallWatch(arguments["path"], acks.counted) as watch:
        watch.cover()
        watch.arm(CallFault(arguments["place"], CallFailure.KILLED))
        replaced(Path(arguments["path"]))


def recorded(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The body of another, which is not killed: what it did."""
    with CallRecorder(arguments["path"]) as recorder:
        for number in range(RECORDED):
            recorder.started(number)
            replaced(Path(arguments["path"]))
            recorder.acknowledged(number)
        return recording_data(recorder.recording())


def recording_of(harness: Harness, store: Path) -> Recording:
    """What a process did that was not killed."""
    result = harness.trial("bench_syscalls:recorded", {"path": str(store)})
    return recording_from(result.value)


def killed_and_cut(folder: Path, where: str, seconds: float) -> None:
    """Print another line."""
    store = folder / "store"
    store.mkdir()
    number = count()
    with Harness(["bench_syscalls"], path=[str(Path(__file__).parent), *sys.path]) as harness:

        def kill() -> None:
            given = {"path": str(store), "place": 1 + next(number) % CALLS}
            harness.trial("bench_syscalls:killed", given, kill=KillAt.place(1)).require_kill()

        kills = seconds_each(kill, seconds)
        recording = recording_of(harness, store)
    endless = chain.from_iterable(repeat(PowerCuts(recording)))
    images = seconds_each(lambda: materialize(next(endless), folder / str(next(number))), seconds)
    click.echo(f"{where:8} {1 / kills:6,.0f} kills/s, {1 / images:6,.0f} disk images/s")


@click.command()
@click.option("--seconds", default=2.0, help="How long each figure is measured.")
def main(seconds: float) -> None:
    """Print what there is to print."""
    if (reason := available()) is not None:
        click.echo(f"not measured: {reason}")
        return
    for where, parent in (("memory", SHARED_MEMORY), ("disk", None)):
        if parent is None or parent.exists():
            with tempfile.TemporaryDirectory(dir=parent) as folder:
                measured(Path(folder), where, seconds)
                killed_and_cut(Path(folder), where, seconds)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
