"""Savers that lose or tear what they acknowledged while they are opened after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests.reference.log_file import Event, Log, LogFileReference, whole
from tests.wrong_savers.registry import wrong


class LogWrittenAgain(Log):
    """Gets rid of a torn tail by writing the whole of the log again, in its place."""

    def news(self) -> Iterator[Event]:
        data = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        lines = data.splitlines(keepends=True)
        good = [line for line in lines if whole(line) is not None]
        if len(good) < len(lines):
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, b"".join(good), 0)
            os.fsync(self.descriptor)
        unread = b"".join(good)[self.read_to :]
        self.read_to += len(unread)
        for line in unread.splitlines(keepends=True):
            yield from whole(line) or ()


@wrong(
    "durability/acknowledged-survives",
    "a recovery empties the log and writes what was whole of it again: it must not be killed",
    also={"durability/in-flight-atomic"},
)
class RecoveredInPlace(LogFileReference):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        os.close(saver.log.descriptor)
        saver.log = LogWrittenAgain(path / "checkpoints.log")
        return saver
