"""A saver that keeps its store as one value of LMDB, each operation one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import lmdb

from tests.reference.state_file import StateFileReference
from tests.reference.state_text import state_from
from tests.reference.store import Store
from tests.right_savers.registry import right

STATE = b"state"
MAP_SIZE = 1 << 30


class Environment:
    """An environment of LMDB, which a process may open but once: its savers share it."""

    _open: ClassVar[dict[Path, Environment]] = {}
    _gate: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.environment = self._opened()

    @classmethod
    def at(cls, path: Path) -> Environment:
        """That of a file, opened by the first who asks."""
        with cls._gate:
            if path not in cls._open:
                cls._open[path] = cls(path)
            cls._open[path].users += 1
            return cls._open[path]

    def open_again_after_panic(self) -> None:
        """An environment that could not write its meta page is of no more use."""
        try:
            self.environment.begin().abort()
        except lmdb.PanicError:
            self.environment.close()
            self.environment = self._opened()

    def _opened(self) -> Any:
        return lmdb.open(str(self.path), map_size=MAP_SIZE, mode=0o600, subdir=False)

    def leave(self) -> None:
        """Close it, if nobody else uses it."""
        with self._gate:
            self.users -= 1
            if not self.users:
                del self._open[self.path]
                self.environment.close()


@right(
    "the whole store is one value of LMDB, and each operation one transaction",
    declines={"large": "the whole store is written each time"},
)
class LmdbValue(StateFileReference):
    shared: Environment | None
    transaction: Any
    seen: bytes | None

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(Store())
        saver.shared = Environment.at(path / "checkpoints.lmdb")
        saver.transaction = saver.seen = None
        return saver

    @contextmanager
    def turn(self) -> Iterator[None]:
        with self.store.lock:
            if self.shared is None:
                raise ValueError("the saver is closed")
            try:
                with self.shared.environment.begin(write=True) as self.transaction:
                    self.catch_up()
                    yield
            except BaseException:
                self.forget()
                self.shared.open_again_after_panic()
                raise

    def catch_up(self) -> None:
        found = self.transaction.get(STATE)
        if found != self.seen:
            self.forget()
            self.store.shelves = {} if found is None else state_from(found.decode()).shelves
            self.seen = found

    def forget(self) -> None:
        self.store.shelves = {}
        self.seen = None

    def replace(self, data: bytes) -> None:
        self.transaction.put(STATE, data)
        self.seen = data

    def close(self) -> None:
        shared, self.shared = self.shared, None
        if shared is not None:
            shared.leave()
