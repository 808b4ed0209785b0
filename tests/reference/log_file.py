"""A saver on one file that only grows: each operation is one line, and its torn tail is dropped."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Self, TypeAlias

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore, Shelf, WriteRow

Event: TypeAlias = list[Any]


def line_of(events: list[Event]) -> bytes:
    """The line that says so."""
    text = json.dumps(events).encode() + b"\n"
    return b"%08x %s" % (zlib.crc32(text), text)


def whole(line: bytes) -> list[Event] | None:
    """What a line says; None if it is torn, wherever that may be."""
    checksum, _, text = line.partition(b" ")
    if not text.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    events: list[Event] = json.loads(text)
    return events


class Log:
    """The file. A line is a checksum, and events as JSON."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.read_to = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else reads or writes meanwhile."""
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def news(self) -> Iterator[Event]:
        """What was appended since the log was last read; a torn tail is cut off."""
        size = os.fstat(self.descriptor).st_size
        data = os.pread(self.descriptor, size - self.read_to, self.read_to)
        for line in data.splitlines(keepends=True):
            events = whole(line)
            if events is None:
                os.ftruncate(self.descriptor, self.read_to)
                return
            self.read_to += len(line)
            yield from events

    def append(self, events: list[Event]) -> None:
        """Write one line, durably; one that cannot be written whole is cut off again."""
        line = line_of(events)
        try:
            written = os.pwrite(self.descriptor, line, self.read_to)
            if written < len(line):
                raise OSError(f"{written} of {len(line)} bytes were written")
            os.fsync(self.descriptor)
        except BaseException:
            os.ftruncate(self.descriptor, self.read_to)
            raise
        self.read_to += len(line)


def _logged(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: LogFileReference, *args: Any, **options: Any) -> Any:
        with self.store.lock, self.log.locked():
            self.catch_up()
            self.events.clear()
            answer = getattr(ReferenceSaver, name)(self, *args, **options)
            if self.events:
                self.append()
            return answer

    return method


def _up_to_date(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: LogFileReference, *args: Any, **options: Any) -> Any:
        with self.store.lock, self.log.locked():
            self.catch_up()
            answer = getattr(ReferenceSaver, name)(self, *args, **options)
            return iter([*answer]) if name == "list" else answer

    return method


class LogFileReference(ReferenceSaver):
    """What the log says is kept in memory as well."""

    log: Log
    events: list[Event]

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(ReferenceStore())
        saver.log = Log(path / "checkpoints.log")
        saver.events = []
        return saver

    def get_next_version(self, current: Any, channel: None) -> Any:
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.getrandbits(53):016}"

    put = _logged("put")
    put_writes = _logged("put_writes")
    delete_thread = _logged("delete_thread")
    delete_for_runs = _logged("delete_for_runs")
    copy_thread = _logged("copy_thread")
    prune = _logged("prune")
    get_tuple = _up_to_date("get_tuple")
    list = _up_to_date("list")
    get_delta_channel_history = _up_to_date("get_delta_channel_history")

    # -- the log --------------------------------------------------------------------------

    def append(self) -> None:
        """Make what was done durable; what cannot be is undone, by reading the log afresh."""
        try:
            self.log.append(self.events)
        except BaseException:
            self.store.shelves.clear()
            self.log.read_to = 0
            raise

    def catch_up(self) -> None:
        """Do what others have done."""
        for kind, thread, ns, *rest in self.log.news():
            getattr(self, f"_redo_{kind}")(thread, ns, *rest)

    def _redo_put(self, thread: str, ns: str, row: Event, values: list[Event]) -> None:
        shelf = self._shelf_for_writing(thread, ns)
        super()._store_values(shelf, {(c, v): _blob(blob) for c, v, blob in values})
        id, parent, checkpoint, metadata, versions = row
        stored = CheckpointRow(thread, ns, id, parent, _read(checkpoint), _read(metadata), versions)
        super()._store_checkpoint(shelf, stored)

    def _redo_writes(self, thread: str, ns: str, id: str, rows: list[Event]) -> None:
        read = [WriteRow(t, n, channel, _read(value), path) for t, n, channel, value, path in rows]
        super()._store_batch(self._shelf_for_writing(thread, ns), id, read)

    def _redo_remove(self, thread: str, ns: str) -> None:
        super()._remove(self._shelf(thread, ns))

    def _redo_drop(self, thread: str, ns: str, ids: list[str]) -> None:
        super()._drop(self._shelf(thread, ns), ids)

    def _redo_copy(self, thread: str, ns: str, target: str) -> None:
        super()._copy_shelf(self._shelf(thread, ns), self._shelf_for_writing(target, ns))

    # -- what is done, and noted ----------------------------------------------------------

    def _store_values(self, shelf: Shelf, values: Any) -> None:
        self.events.append([[c, v, _blob_data(blob)] for (c, v), blob in values.items()])
        super()._store_values(shelf, values)

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        data = [row.id, row.parent, _data(row.checkpoint), _data(row.metadata), row.versions]
        self.events.append(["put", shelf.thread, shelf.ns, data, self.events.pop()])
        super()._store_checkpoint(shelf, row)

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        data = [[r.task_id, r.index, r.channel, _data(r.value), r.path] for r in rows]
        self.events.append(["writes", shelf.thread, shelf.ns, checkpoint_id, data])
        super()._store_batch(shelf, checkpoint_id, rows)

    def _remove(self, shelf: Shelf) -> None:
        self.events.append(["remove", shelf.thread, shelf.ns])
        super()._remove(shelf)

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        if ids:
            self.events.append(["drop", shelf.thread, shelf.ns, ids])
        super()._drop(shelf, ids)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        self.events.append(["copy", shelf.thread, shelf.ns, copy.thread])
        super()._copy_shelf(shelf, copy)

    def close(self) -> None:
        """Close the file, once."""
        descriptor, self.log.descriptor = self.log.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _data(blob: tuple[str, bytes]) -> list[str]:
    kind, value = blob
    return [kind, base64.b64encode(value).decode()]


def _read(data: list[str]) -> tuple[str, bytes]:
    kind, value = data
    return kind, base64.b64decode(value)


def _blob_data(blob: tuple[str, bytes] | None) -> list[str] | None:
    return None if blob is None else _data(blob)


def _blob(data: list[str] | None) -> tuple[str, bytes] | None:
    return None if data is None else _read(data)
