"""What a killed process and a power cut may cost, for each setting of the bundled savers.

    python tests/benchmarks/measure_durability.py [--images 1500]

One run of 40 operations (put and put_writes by turns) is recorded; from it come the files that
kill -9 leaves at each I/O, and the disks that a power cut may legally leave. Each is opened and
compared with what was acknowledged. docs/savers.md quotes the table.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from saverproof_faults.io import Recorder
from saverproof_faults.power import DiskImage, PowerCuts, kill_images, materialize
from saverproof_savers import SnapshotSqliteSaver, SqliteSaver

OPERATIONS = 40
WRITES = 3
FILE = "checkpoints.db"

SAVERS: dict[str, Callable[[Path], Any]] = {
    **{
        f"SqliteSaver, synchronous={setting}": (
            lambda path, setting=setting: SqliteSaver.open(path, synchronous=setting)
        )
        for setting in ("FULL", "NORMAL", "OFF")
    },
    **{
        f"SnapshotSqliteSaver, {journal} {setting}": (
            lambda path, journal=journal, setting=setting: SnapshotSqliteSaver(
                path, journal, synchronous=setting
            )
        )
        for journal, setting in (("WAL", "FULL"), ("WAL", "NORMAL"), ("DELETE", "FULL"))
    },
}


def checkpoint_id(number: int) -> str:
    return f"1ef00000-0000-6000-8000-{number:012x}"


def config(number: int | None) -> Any:
    configurable = {"thread_id": "thread", "checkpoint_ns": ""}
    if number is not None:
        configurable["checkpoint_id"] = checkpoint_id(number)
    return {"configurable": configurable}


def operate(saver: Any, operation: int) -> None:
    """Odd operations put a checkpoint, even ones the writes of the one before."""
    if operation % 2 == 0:
        writes = [("state", ["x" * 300])] * WRITES
        saver.put_writes(config(operation - 1), writes, "task")
        return
    checkpoint = {
        "v": 4,
        "id": checkpoint_id(operation),
        "ts": "2026-11-21T22:00:00+00:00",
        "channel_values": {"state": ["x" * 1000, operation]},
        "channel_versions": {"state": operation},
        "versions_seen": {},
        "updated_channels": None,
    }
    parent = operation - 2 if operation > 2 else None
    saver.put(config(parent), checkpoint, {"step": operation}, {"state": operation})


def found_in(saver: Any) -> tuple[set[int], bool]:
    """The operations that are there, and whether one is only partly there."""
    there: set[int] = set()
    torn = False
    for each in saver.list(config(None)):
        operation = int(each.checkpoint["id"].rsplit("-", 1)[1], 16)
        there.add(operation)
        torn |= each.checkpoint["channel_values"].get("state") != ["x" * 1000, operation]
        if each.pending_writes:
            there.add(operation + 1)
            torn |= len(each.pending_writes) != WRITES
    return there, torn


def judge(images: Iterable[DiskImage], opened: Callable[[Path], Any]) -> str:
    count = lost = torn = damaged = 0
    for image in images:
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            materialize(image, Path(folder))
            try:
                with opened(Path(folder) / FILE) as saver:
                    there, is_torn = found_in(saver)
                with closing(sqlite3.connect(Path(folder) / FILE)) as connection:
                    sound = connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            except (sqlite3.Error, ValueError, RuntimeError):
                there, is_torn, sound = set(range(OPERATIONS + 1)), False, False
        lost = max(lost, len(set(image.acknowledged) - there))
        holes = there != set(range(1, max(there, default=0) + 1))
        torn += sound and (is_torn or holes)
        damaged += not sound
    return f"{count:7,} images: lost at most {lost:2}, torn or with gaps {torn}, damaged {damaged}"


@click.command(help=__doc__)
@click.option("--images", default=1500, help="Power cuts to try for each setting, at most.")
def main(images: int) -> None:
    for name, opened in SAVERS.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            Recorder(Path(folder)) as recorder,
            opened(Path(folder) / FILE) as saver,
        ):
            recorder.settled()
            for operation in range(1, OPERATIONS + 1):
                recorder.started(operation)
                operate(saver, operation)
                recorder.acknowledged(operation)
            recording = recorder.recording()
        click.echo(f"{name} ({OPERATIONS} operations)")
        click.echo(f"  kill -9   {judge(kill_images(recording), opened)}")
        click.echo(f"  power cut {judge(PowerCuts(recording, seed=1, cap=images), opened)}")


if __name__ == "__main__":
    main()
