"""The data of the reference saver: rows in dictionaries, one store for each workspace."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

Version: TypeAlias = Any
Blob: TypeAlias = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One stored checkpoint. Its channel values are in the shelf, by channel and version."""

    thread: str
    ns: str
    id: str
    parent: str | None
    checkpoint: Blob
    metadata: Blob
    versions: dict[str, Version]


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One pending write of a task."""

    task_id: str
    index: int
    channel: str
    value: Blob
    path: str


@dataclass(slots=True)
class Shelf:
    """The rows of one thread and namespace. A value of `None` says that this version has no
    value.
    """

    thread: str
    ns: str
    checkpoints: dict[str, CheckpointRow] = field(default_factory=dict)
    writes: dict[str, dict[Hashable, WriteRow]] = field(default_factory=dict)
    values: dict[Hashable, Blob | None] = field(default_factory=dict)


class ReferenceStore:
    """All data of one workspace. Savers opened on the same path share one store.

    `minted` counts versions; `extra` is for data that only a wrong saver keeps.
    """

    _at: ClassVar[dict[Path, ReferenceStore]] = {}
    _below: ClassVar[dict[Path, set[Path]]] = {}
    """The stores and folders directly below each folder: there may be tens of thousands of
    stores.
    """

    def __init__(self) -> None:
        self.shelves: dict[Any, Shelf] = {}
        self.lock = threading.RLock()
        self.minted = 0
        self.extra: dict[Any, Any] = {}

    @classmethod
    def at(cls, path: Path) -> ReferenceStore:
        """Return the store for this path; make it the first time."""
        if path not in cls._at:
            inner = path
            for folder in path.parents:
                siblings = cls._below.setdefault(folder, set())
                if inner in siblings:
                    break
                siblings.add(inner)
                inner = folder
        return cls._at.setdefault(path, cls())

    @classmethod
    def forget(cls, path: Path) -> None:
        """Drop the stores of this path and of all paths below it."""
        cls._at.pop(path, None)
        cls._below.get(path.parent, set()).discard(path)
        for inner in cls._below.pop(path, ()):
            cls.forget(inner)
