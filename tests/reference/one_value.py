"""Savers that keep their whole store as one value of an embedded database."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Protocol, Self

from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.state_file import StateFileReference, sync_folder
from tests.reference.state_text import state_from


class Transaction(Protocol):
    """What is read and written together."""

    def read(self) -> bytes | None:
        """The value, if there is one."""

    def write(self, data: bytes) -> None:
        """Put another value in its place."""


class SharedDatabase:
    """A database which a process may open but once: its savers share it.

    `broken` says that it has to be opened again before it is of any use.
    """

    _open: ClassVar[dict[Path, SharedDatabase]] = {}
    _gate: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.broken = False
        if not path.exists():
            self._make()
        self.connect()

    def _make(self) -> None:
        """Give a new database its name when it is whole, and on the disk: engines refuse one that
        they were killed at making, and LMDB syncs nothing before its first commit.
        """
        whole, made = self.path, self.path.with_suffix(f".{os.getpid()}")
        made.unlink(missing_ok=True)
        self.path = made
        self.connect()
        self.disconnect()
        self.path = whole
        with made.open("rb") as file:
            os.fsync(file.fileno())
        # Another process may have been quicker.
        with suppress(FileExistsError):
            os.link(made, whole)
        for left in made.parent.glob(f"{made.name}*"):
            left.unlink()
        sync_folder(whole.parent)

    @classmethod
    def at(cls, path: Path) -> Self:
        """That of a file, opened by the first who asks."""
        with cls._gate:
            if path not in cls._open:
                cls._open[path] = cls(path)
            found = cls._open[path]
            assert isinstance(found, cls)
            found.users += 1
            return found

    def leave(self) -> None:
        """Close it, if nobody else uses it."""
        with self._gate:
            self.users -= 1
            if not self.users:
                del self._open[self.path]
                if not self.broken:
                    self.disconnect()

    def connect(self) -> None:
        """Open the database."""
        raise NotImplementedError

    def disconnect(self) -> None:
        """Close it."""
        raise NotImplementedError

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Commit what is done in the block, or take it back if that raises."""
        raise NotImplementedError

    def is_dead(self) -> bool:
        """Whether it is of no more use after a failure."""
        raise NotImplementedError

    def reopen(self) -> None:
        """Open it again if need be; what the disk does not allow now it may allow the next time."""
        if self.broken:
            self.connect()
            self.broken = False

    def mend(self) -> None:
        """Close it if it is of no more use."""
        if not self.broken and self.is_dead():
            self.broken = True
            self.disconnect()


class OneValue(StateFileReference):
    """Each operation is one transaction."""

    database_class: ClassVar[type[SharedDatabase]]
    file: ClassVar[str]
    shared: SharedDatabase | None
    transaction: Transaction
    seen: bytes | None

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(ReferenceStore())
        saver.shared = cls.database_class.at(path / cls.file)
        saver.seen = None
        return saver

    @contextmanager
    def turn(self) -> Iterator[None]:
        with self.store.lock:
            if self.shared is None:
                raise ValueError("the saver is closed")
            try:
                with self.shared.transaction() as self.transaction:
                    self.catch_up()
                    yield
            except BaseException:
                self.forget()
                self.shared.mend()
                raise

    def catch_up(self) -> None:
        found = self.transaction.read()
        if found != self.seen:
            self.forget()
            self.store.shelves = {} if found is None else state_from(found.decode()).shelves
            self.seen = found

    def forget(self) -> None:
        self.store.shelves = {}
        self.seen = None

    def replace(self, data: bytes) -> None:
        self.transaction.write(data)
        self.seen = data

    def close(self) -> None:
        shared, self.shared = self.shared, None
        if shared is not None:
            shared.leave()
