"""Savers that take what a failed sync has dropped for stored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.reference.log_file import Event, Log, LogFileReference, line_of
from tests.reference.state_file import StateFileReference, sync_folder
from tests.wrong_savers.registry import wrong

LOSES = "durability/power-cut-loses-nothing"


def sync_insistently(descriptor: int) -> None:
    """Sync, and once more if that fails: the kernel has let go of the bytes by then."""
    try:
        os.fsync(descriptor)
    except OSError:
        os.fsync(descriptor)


class OtherLog(LogFileReference):
    """A saver on a log of another class."""

    log_class: type[Log]

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        os.close(saver.log.descriptor)
        saver.log = cls.log_class(path / "checkpoints.log")
        return saver


class LogSyncedAgain(Log):
    def append(self, events: Sequence[Event]) -> None:
        line = line_of([*events])
        os.pwrite(self.descriptor, line, self.read_to)
        sync_insistently(self.descriptor)
        self.read_to += len(line)


@wrong(LOSES, "a sync that failed is tried again, and the second time it succeeds")
class LogSyncsAgain(OtherLog):
    log_class = LogSyncedAgain


class LogThatGoesOn(Log):
    def append(self, events: Sequence[Event]) -> None:
        line = line_of([*events])
        self.read_to += os.pwrite(self.descriptor, line, self.read_to)
        os.fsync(self.descriptor)


@wrong(LOSES, "what comes after a failed sync is written behind what it dropped")
class LogGoesOnBehindItsHole(OtherLog):
    """The operation raises and is read back from the file, where the kernel still shows it."""

    log_class = LogThatGoesOn


@wrong(
    "durability/power-cut", "the new state file is synced again, and renamed without what it holds"
)
class StateSyncedAgain(StateFileReference):
    def replace(self, data: bytes) -> None:
        new = self.folder / "state.new"
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            sync_insistently(file.fileno())
        os.replace(new, self.folder / "state.json")
        sync_folder(self.folder)
