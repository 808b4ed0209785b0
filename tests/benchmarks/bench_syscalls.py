"""Faults per second at system calls, and what holding the calls costs: run this file.

The operation replaces a file by a new one and syncs both the file and its folder: five calls. A
fault is: arm, operate, disarm. Aim: 2,000 faults a second beside the operation's own time.
"""

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import click

from saverproof_faults.syscalls import CallFault, CallWatch, available

SHARED_MEMORY = Path("/dev/shm")


def replaced(folder: Path) -> None:
    """The file "a" has new contents, which last."""
    new = folder / "new"
    with open(new, "wb", buffering=0) as file:
        file.write(b"x" * 100)
        os.fsync(file.fileno())
    os.replace(new, folder / "a")
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


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

        places = count()

        def failed() -> None:
            watch.arm(CallFault(1 + next(places) % 5))
            with suppress(OSError):
                replaced(folder)
            watch.disarm()
            assert watch.fired

        bare = each(lambda: replaced(folder))
        thread.submit(watch.cover).result()
        held = each(lambda: replaced(folder))
        faults = each(failed)
    click.echo(
        f"{where:8} bare {bare * 1e6:6,.0f} us, held {held * 1e6:6,.0f} us "
        f"({(held - bare) / 5 * 1e6:4,.0f} us a call, {5 / (held - bare):7,.0f} notifications/s), "
        f"{1 / faults:6,.0f} faults/s"
    )


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


if __name__ == "__main__":
    main()
