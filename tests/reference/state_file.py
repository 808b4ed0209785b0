"""A saver on one JSON file: each change writes a new file and puts it in the old one's place."""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.state_text import read_state, state_of


def _changing(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: StateFileReference, *args: Any, **options: Any) -> Any:
        with self.turn():
            answer = getattr(ReferenceSaver, name)(self, *args, **options)
            self.store_all()
            return answer

    return method


def _reading(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: StateFileReference, *args: Any, **options: Any) -> Any:
        with self.turn():
            answer = getattr(ReferenceSaver, name)(self, *args, **options)
            return iter([*answer]) if name == "list" else answer

    return method


class StateFileReference(ReferenceSaver):
    """`known` is the state file that was read last, kept open: a new one has another number."""

    folder: Path
    lock: int
    known: int | None

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(ReferenceStore())
        saver.folder = path
        saver.lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        saver.known = None
        return saver

    def get_next_version(self, current: Any, channel: None) -> Any:
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.getrandbits(53):016}"

    put = _changing("put")
    put_writes = _changing("put_writes")
    delete_thread = _changing("delete_thread")
    delete_for_runs = _changing("delete_for_runs")
    copy_thread = _changing("copy_thread")
    prune = _changing("prune")
    get_tuple = _reading("get_tuple")
    list = _reading("list")
    get_delta_channel_history = _reading("get_delta_channel_history")

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else reads or writes meanwhile, and what others have written is known."""
        with self.store.lock:
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            try:
                self.catch_up()
                yield
            finally:
                fcntl.flock(self.lock, fcntl.LOCK_UN)

    def catch_up(self) -> None:
        """Read the file, if it is another one than that which was read last."""
        try:
            found = os.open(self.folder / "state.json", os.O_RDONLY)
        except FileNotFoundError:
            self.forget()
            return
        if self.known is not None and os.path.samestat(os.fstat(found), os.fstat(self.known)):
            os.close(found)
            return
        self.forget()
        try:
            self.store.shelves = read_state(self.folder).shelves
        except BaseException:
            os.close(found)
            raise
        self.known = found

    def forget(self) -> None:
        """Know nothing of the store."""
        known, self.known = self.known, None
        self.store.shelves = {}
        if known is not None:
            os.close(known)

    def store_all(self) -> None:
        """Make everything durable; if that fails, what is stored is read again."""
        try:
            self.replace(state_of(self.store).encode())
        except BaseException:
            self.forget()
            raise

    def replace(self, data: bytes) -> None:
        """Put a new state file in the place of the old one."""
        new = self.folder / "state.new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.folder / "state.json")
        sync_folder(self.folder)
        known, self.known = self.known, os.open(self.folder / "state.json", os.O_RDONLY)
        if known is not None:
            os.close(known)

    def close(self) -> None:
        """Close the files, once."""
        self.forget()
        lock, self.lock = self.lock, -1
        if lock >= 0:
            os.close(lock)


def sync_folder(folder: Path) -> None:
    """Make the folder's names durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
