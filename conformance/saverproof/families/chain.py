"""The checkpoints of one thread, as LangGraph makes them, for measuring costs and leaks.

Scripts contain the source of the class. So that they need nothing of the kit, the class uses only
what this module imports from elsewhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint


class Chain:
    """The checkpoints of one thread and namespace, each put below the one before.

    ``new`` counts the bytes that were put for the first time.
    """

    numbers: Iterator[int] = itertools.count(1)

    def __init__(self, saver: Any, thread: str, namespace: str = "") -> None:
        self.saver, self.thread = saver, thread
        self.place = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
        self.configs: list[Any] = []
        self.values: dict[str, Any] = {}
        self.versions: dict[str, Any] = {}
        self.version = None
        self.new = 0

    def put(self, **changed: Any) -> None:
        """Put a checkpoint in which these channels have new values; a delta channel has None."""
        self.configs.append(self.saver.put(*self.arguments(**changed)))

    def arguments(self, **changed: Any) -> tuple[Any, ...]:
        """Return the arguments of a put in which these channels have new values."""
        self.version = self.saver.get_next_version(self.version, None)
        versions = dict.fromkeys(changed, self.version)
        self.values |= changed
        self.versions |= versions
        checkpoint = {
            **empty_checkpoint(),
            # As LangGraph makes them: savers look for what is missing in those of older versions.
            "v": 4,
            "id": f"{next(self.numbers):08x}-0000-6000-8000-02f1a6c4d8e0",
            "ts": "2026-11-24T00:00:00+00:00",
            "channel_values": {k: v for k, v in self.values.items() if v is not None},
            "channel_versions": dict(self.versions),
        }
        parent = self.configs[-1] if self.configs else self.place
        metadata = {"source": "loop", "step": len(self.configs), "run_id": f"run-{self.thread}"}
        self.new += len(repr(changed))
        return parent, checkpoint, metadata, versions

    def write(self, channel: str = "text", value: str = "a write") -> None:
        """Put a write of another task to the newest checkpoint."""
        task = f"{next(self.numbers):08x}-5a1c-5e0f-9b2d-000000000000"
        self.saver.put_writes(self.configs[-1], [(channel, value)], task)
        self.new += len(value)

    def step(self) -> None:
        """Put a checkpoint and a write to it."""
        self.put(text=f"step {len(self.configs):08}")
        self.write()

    def delta(self) -> None:
        """Put a checkpoint in which a delta channel is new, and put the channel's new entry as a
        write.
        """
        self.put(log=None)
        self.write("log", f"entry {len(self.configs):08}")
