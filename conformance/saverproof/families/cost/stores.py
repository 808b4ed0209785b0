"""Stores that grow in one respect each.

Scripts hold the source of these classes, so that they use nothing of the kit, and of this module
nothing that does not stand in its imports.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint


class Chain:
    """The checkpoints of one thread and namespace, each put below the one before."""

    numbers = itertools.count(1)

    def __init__(self, saver: Any, thread: str, namespace: str = "") -> None:
        self.saver = saver
        self.place = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
        self.configs: list[Any] = []
        self.values: dict[str, Any] = {}
        self.versions: dict[str, Any] = {}
        self.version = None

    def put(self, **changed: Any) -> None:
        """Put a checkpoint in which these channels have new values."""
        self.version = self.saver.get_next_version(self.version, None)
        new = dict.fromkeys(changed, self.version)
        self.values |= changed
        self.versions |= new
        checkpoint = {
            **empty_checkpoint(),
            "id": f"{next(self.numbers):08x}-0000-6000-8000-02f1a6c4d8e0",
            "ts": "2026-11-24T00:00:00+00:00",
            "channel_values": dict(self.values),
            "channel_versions": dict(self.versions),
        }
        parent = self.configs[-1] if self.configs else self.place
        metadata = {"source": "loop", "step": len(self.configs), "parents": {}}
        self.configs.append(self.saver.put(parent, checkpoint, metadata, new))

    def write(self) -> None:
        """Put a write of another task to the newest checkpoint."""
        task = f"{next(self.numbers):08x}-5a1c-5e0f-9b2d-000000000000"
        self.saver.put_writes(self.configs[-1], [("text", "a write")], task)

    def step(self) -> None:
        """Put a checkpoint and a write to it."""
        self.put(text=f"step {len(self.configs):08}")
        self.write()


class GrowingStore:
    """``asked`` is the chain that questions are about, ``beside`` one that nobody asks about.

    ``grow`` lets the store grow to a size.
    """

    grow: Callable[[int], None]

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.asked, self.beside = Chain(saver, "asked"), Chain(saver, "beside")
        for chain in (self.beside, self.asked):
            chain.put(topic="the same in all checkpoints")
            for _ in range(15):
                chain.step()


class Checkpoints(GrowingStore):
    """checkpoint in the thread"""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < size:
            self.asked.step()


class Threads(GrowingStore):
    """other thread in the store"""

    others = 0

    def grow(self, size: int) -> None:
        while self.others < size:
            # Some before and some after the thread that is asked for, in whatever order.
            Chain(self.saver, f"{'az'[self.others % 2]}-{self.others:08}").step()
            self.others += 1


class Namespaces(GrowingStore):
    """other namespace in the thread"""

    others = 0

    def grow(self, size: int) -> None:
        while self.others < size:
            Chain(self.saver, "asked", f"node:{self.others:08}").step()
            self.others += 1


class PendingWrites(GrowingStore):
    """write that the checkpoint has already"""

    writes = 0

    def grow(self, size: int) -> None:
        while self.writes < size:
            self.asked.write()
            self.writes += 1


class UnchangedValue(GrowingStore):
    """byte of a channel that does not change"""

    def grow(self, size: int) -> None:
        self.asked.put(document="x" * size)


class Limit(GrowingStore):
    """checkpoint asked for"""

    def grow(self, size: int) -> None:
        while len(self.asked.configs) < 80:
            self.asked.step()


# --- questions: each is asked of a store that has grown to a size -----------------------------


def get_by_id(store: GrowingStore, size: int) -> Any:
    """get_tuple of an old and of a new checkpoint by their ids"""
    configs = store.asked.configs
    return [store.saver.get_tuple(config) for config in (configs[1], configs[-2])]


def get_latest(store: GrowingStore, size: int) -> Any:
    """get_tuple of the latest checkpoint"""
    return store.saver.get_tuple(store.asked.place)


def put(store: GrowingStore, size: int) -> Any:
    """put of one more checkpoint"""
    store.asked.put(text="one more")


def put_writes(store: GrowingStore, size: int) -> Any:
    """put_writes of one more write"""
    store.asked.write()


def page(store: GrowingStore, size: int) -> Any:
    """list with limit 10"""
    return list(store.saver.list(store.asked.place, limit=10))


def page_of_size(store: GrowingStore, size: int) -> Any:
    """list with a limit"""
    return list(store.saver.list(store.asked.place, limit=size))
