"""Savers on plain files that a failing disk, a kill or a power cut leaves in pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from saverproof.mistakes.reference.store import Shelf, WriteRow
from tests.reference.lmdb_value import Environment, LmdbReference
from tests.reference.log_file import Event, Log, LogFileReference, line_of, whole
from tests.reference.state_file import StateFileReference, sync_folder
from tests.reference.state_text import state_of
from tests.wrong_savers.registry import wrong

POWER = "durability/power-cut"


@wrong(
    "atomicity/previous-intact",
    "open(path, 'w') empties the file that holds everything",
    also={"atomicity/all-or-nothing"},
)
class RewrittenInPlace(StateFileReference):
    def replace(self, data: bytes) -> None:
        (self.folder / "state.json").write_bytes(data)


@wrong("atomicity/all-or-nothing", "a loop over the batch, with a new file for each write")
class FileForEachWrite(StateFileReference):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: Sequence[WriteRow]) -> None:
        for row in rows:
            super()._store_batch(shelf, checkpoint_id, [row])
            self.store_all()


@wrong("atomicity/all-or-nothing", "the cache is changed first, and believed when writing failed")
class CacheBelievesItself(StateFileReference):
    def store_all(self) -> None:
        self.replace(state_of(self.store).encode())


@wrong("atomicity/no-silent-loss", "os.write may write less than it is given, and says so")
class WritesAreBelieved(StateFileReference):
    def replace(self, data: bytes) -> None:
        descriptor = os.open(
            self.folder / "state.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600
        )
        try:
            os.write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(self.folder / "state.new", self.folder / "state.json")
        sync_folder(self.folder)


class Noted(StateFileReference):
    """The first opening notes in a file what the store is, and all others read it."""

    FORMAT = b"a state file, version 1\n"

    @classmethod
    def at(cls, path: Path) -> Self:
        if not (path / "format").exists():
            cls.note(path)
        elif (path / "format").read_bytes() != cls.FORMAT:
            raise ValueError(f"{path}: the format is unknown")
        return super().at(path)

    @classmethod
    def note(cls, path: Path) -> None:
        raise NotImplementedError


@wrong("atomicity/usable-after", "a first opening that fails leaves a file that no other can read")
class FormatLeftInPart(Noted):
    @classmethod
    def note(cls, path: Path) -> None:
        (path / "format").write_bytes(cls.FORMAT)


@wrong("durability/power-cut", "what the first opening notes is renamed unsynced, once and for all")
class FormatNeverSynced(Noted):
    @classmethod
    def note(cls, path: Path) -> None:
        (path / "format.new").write_bytes(cls.FORMAT)
        os.replace(path / "format.new", path / "format")


class LogWithTail(Log):
    """Leaves out what is torn, and writes after it, on the same line."""

    def news(self) -> Iterator[Event]:
        data = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        for line in data.splitlines(keepends=True):
            yield from whole(line) or ()
        self.read_to = len(data)


@wrong("durability/reopens", "what a killed process has left of a line stays there", also={POWER})
class TornTailKept(LogFileReference):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        os.close(saver.log.descriptor)
        saver.log = LogWithTail(path / "checkpoints.log")
        return saver

    def catch_up(self) -> None:
        self.store.shelves.clear()
        super().catch_up()


class LogToItsEnd(Log):
    """Is read as far as it is whole, and written at its end."""

    def news(self) -> Iterator[Event]:
        data = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, self.read_to)
        for line in data.splitlines(keepends=True):
            if (events := whole(line)) is None:
                return
            self.read_to += len(line)
            yield from events

    def append(self, events: list[Event]) -> None:
        line = line_of(events)
        size = os.fstat(self.descriptor).st_size
        try:
            if os.pwrite(self.descriptor, line, size) < len(line):
                raise OSError("a part of the bytes was written")
            os.fsync(self.descriptor)
        except BaseException:
            os.ftruncate(self.descriptor, size)
            raise


@wrong(
    "durability/reopens",
    "each thread has a log, and what a killed process has left of a line stays in it",
    also={POWER},
)
class TornTailsOfThreadsKept(LogFileReference):
    """The log of the base saver is its lock, and is empty."""

    folder: Path
    logs: dict[str, LogToItsEnd]

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        saver.folder, saver.logs = path, {}
        return saver

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        raise NotImplementedError

    def append(self) -> None:
        of_threads: dict[str, list[Event]] = {}
        for event in self.events:
            of_threads.setdefault(event[1], []).append(event)
        try:
            for thread, events in of_threads.items():
                self._log(f"{thread.encode().hex()}.log").append(events)
        finally:
            # What was written is done again from the logs, and nothing else.
            self.store.shelves.clear()
            for log in self.logs.values():
                log.read_to = 0

    def catch_up(self) -> None:
        for file in sorted(self.folder.glob("*.log")):
            if file.name != "checkpoints.log":
                for kind, thread, ns, *rest in self._log(file.name).news():
                    getattr(self, f"_redo_{kind}")(thread, ns, *rest)

    def _log(self, name: str) -> LogToItsEnd:
        return self.logs.setdefault(name, LogToItsEnd(self.folder / name))

    def close(self) -> None:
        while self.logs:
            os.close(self.logs.popitem()[1].descriptor)
        super().close()


@wrong("durability/power-cut", "the new state file takes the old one's place unsynced")
class UnsyncedBeforeItsRename(StateFileReference):
    def replace(self, data: bytes) -> None:
        new = self.folder / "state.new"
        new.write_bytes(data)
        os.replace(new, self.folder / "state.json")
        sync_folder(self.folder)


@wrong("durability/power-cut", "the state file is renamed first and synced afterwards")
class RenamedBeforeItsSync(StateFileReference):
    def replace(self, data: bytes) -> None:
        new = self.folder / "state.new"
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.replace(new, self.folder / "state.json")
            os.fsync(file.fileno())
        sync_folder(self.folder)


@wrong("durability/power-cut", "the new state file is renamed, and nothing is ever synced")
class NothingSynced(StateFileReference):
    def replace(self, data: bytes) -> None:
        new = self.folder / "state.new"
        new.write_bytes(data)
        os.replace(new, self.folder / "state.json")


@wrong("durability/power-cut-loses-nothing", "the new name of the state file is left to chance")
class FolderNeverSynced(StateFileReference):
    def replace(self, data: bytes) -> None:
        new = self.folder / "state.new"
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.folder / "state.json")


class UnsyncedLog(Log):
    def append(self, events: Sequence[Event]) -> None:
        line = line_of([*events])
        self.read_to += os.pwrite(self.descriptor, line, self.read_to)


@wrong("durability/power-cut-loses-nothing", "a log with checksums that is never synced")
class LogNeverSynced(LogFileReference):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        os.close(saver.log.descriptor)
        saver.log = UnsyncedLog(path / "checkpoints.log")
        return saver


class UnsyncedEnvironment(Environment):
    sync = False


@wrong(
    "durability/power-cut-loses-nothing",
    "lmdb.open(path, sync=False)",
    also={"durability/power-cut"},
)
class LmdbNeverSynced(LmdbReference):
    """Leaves it to the system when LMDB's pages reach the disk, and in which order."""

    database_class = UnsyncedEnvironment
