"""Counts what this process holds, by kind, and finds where it comes from."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import threading
import time
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from saverproof.savers.execution.store import Store
from saverproof_faults.settled import settled

_SETTLES_WITHIN_S = 5.0
_DESCRIPTORS = Path("/proc/self/fd")
_THREADS = Path("/proc/self/task")
_KIT = Path(__file__).parents[2]
_NOT_OF_SAVERS = ("<", *(str(_KIT / name) for name in ("execution", "families", "targets")))


@dataclass(frozen=True, slots=True)
class HoldingKind:
    """A kind of resource that a process holds.

    Up to ``slack`` more of it is no leak, and neither is less than ``least`` more for each
    repetition. It is counted in whole ``grain``s.
    """

    unit: str
    slack: int
    least: float
    grain: int = 1


# A pool opens connections, and an executor threads, until there are as many as it may have: 32 are
# usual, and come one by one where the machine is busy. Over the last 480 times that is one in 15.
_ONE_IN_TWELVE = 1 / 12
KINDS: Mapping[str, HoldingKind] = MappingProxyType(
    {
        "descriptors": HoldingKind("descriptors", 8, _ONE_IN_TWELVE),
        "threads": HoldingKind("threads", 8, _ONE_IN_TWELVE),
        "tasks": HoldingKind("tasks of the event loop", 4, _ONE_IN_TWELVE),
        "files": HoldingKind("files", 4, _ONE_IN_TWELVE),
        # Caches of statements and of compiled patterns fill until they are full, and each thread of
        # an executor keeps the last error that it met: some ten objects, and 1 KiB.
        "objects": HoldingKind("objects", 64, 1.0, 16),
        "memory": HoldingKind("bytes of memory", 32_768, 128.0, 8_192),
    }
)
"""The kinds by name; the one that ends a process soonest comes first."""


@dataclass(frozen=True, slots=True)
class HeldContents:
    """The things that are held at one moment, with their amounts."""

    descriptors: Counter[str]
    """The number of descriptors, by what they lead to."""
    threads: Counter[str]
    tasks: Counter[str]
    files: Counter[str]
    objects: Counter[str]
    memory: Counter[str]
    """The bytes of memory, by the line that allocated them."""

    def more_than(self, before: HeldContents, kind: str) -> list[str]:
        """Return, in words, what there is more of than before, the largest difference first."""
        more: Counter[str] = getattr(self, kind) - getattr(before, kind)
        return [f"{count:,} × {name}" for name, count in more.most_common(3)]


def unavailable() -> str | None:
    """Return why the resources of this process cannot be counted here; None if they can."""
    if _DESCRIPTORS.is_dir():
        return None
    return f"this system does not tell which descriptors a process has ({_DESCRIPTORS})"


@dataclass(slots=True)
class Holder:
    """Counts what this process holds for the saver of a store.

    ``temporary`` is the folder for temporary files.
    """

    store: Store
    temporary: Path
    _not_counted: Counter[str] = field(default_factory=Counter)

    def rest(self) -> None:
        """Wait until all threads and tasks are idle, and collect garbage."""
        self.store.loop.run(_settled())
        gc.collect()

    def counts(self) -> dict[str, int]:
        """Return how much of each kind is held."""
        counted = {
            "descriptors": sum(1 for _ in _descriptors()),
            "threads": self.threads(),
            "tasks": len(self.store.loop.run(_tasks())),
            "files": sum(1 for _ in self._files()),
            "objects": sum(1 for _ in objects()),
            "memory": tracemalloc.get_traced_memory()[0],
        }
        counted = {kind: count - self._not_counted[kind] for kind, count in counted.items()}
        return {kind: n // KINDS[kind].grain * KINDS[kind].grain for kind, n in counted.items()}

    def threads(self) -> int:
        """Return how many threads there are; an engine may have some that Python does not know."""
        return len(os.listdir(_THREADS))

    def count_without(self, done: Callable[[], None]) -> None:
        """Call ``done``, and subtract from all later counts what it holds."""
        before = self.counts()
        done()
        for kind, count in self.counts().items():
            self._not_counted[kind] += count - before[kind]

    def contents(self) -> HeldContents:
        """Return what is held now: objects by type, and memory by place."""
        memory: Counter[str] = Counter()
        for place in tracemalloc.take_snapshot().statistics("lineno"):
            if not place.traceback[0].filename.startswith(_NOT_OF_SAVERS):
                memory[_place(place.traceback[0])] += place.size
        return HeldContents(
            descriptors=Counter(map(_alike, _descriptors())),
            threads=Counter(map(_alike, _threads())),
            tasks=Counter(self.store.loop.run(_tasks())),
            files=Counter(_alike(path.name) for path in self._files()),
            objects=Counter(type(one).__qualname__ for one in objects()),
            memory=memory,
        )

    def _files(self) -> Iterator[Path]:
        for folder in (self.store.workspace.path, self.temporary):
            yield from folder.rglob("*")


def objects() -> Iterator[object]:
    """Yield the objects that the garbage collector follows, without dead weak references: sqlite3
    keeps one of each cursor of a connection until it has made two hundred.
    """
    for one in gc.get_objects():
        if type(one) is not weakref.ReferenceType or one() is not None:
            yield one


async def _settled() -> None:
    """Wait until all threads and tasks are idle."""
    not_of_saver = {threading.current_thread(), threading.main_thread()}
    threads = [
        thread
        for thread in threading.enumerate()
        if thread not in not_of_saver and not thread.name.startswith("saverproof-")
    ]
    await settled(threads, time.monotonic() + _SETTLES_WITHIN_S)


async def _tasks() -> list[str]:
    """Return what the tasks of the running loop run, without the current task."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return [getattr(task.get_coro(), "__qualname__", "a task") for task in others]


def _descriptors() -> Iterator[str]:
    for name in os.listdir(_DESCRIPTORS):
        try:
            yield os.readlink(_DESCRIPTORS / name)
        except OSError:
            # This is the descriptor by which the folder was read.
            continue


def _threads() -> Iterator[str]:
    """Yield the names of all threads: Python's, or else the system's."""
    named = {str(thread.native_id): thread.name for thread in threading.enumerate()}
    for number in os.listdir(_THREADS):
        try:
            yield named.get(number) or (_THREADS / number / "comm").read_text("utf-8").strip()
        except OSError:
            # The thread has just ended.
            continue


def _alike(text: str) -> str:
    """Return a name with its numbers masked, so that similar names are equal."""
    return re.sub(r"[0-9a-f]{8,}|\d+", "#", text)


def _place(frame: tracemalloc.Frame) -> str:
    return f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}"
