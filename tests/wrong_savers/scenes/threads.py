"""Whole threads: made, and looked at."""

from __future__ import annotations

from typing import Any

from tests.wrong_savers.scenes.probe import Probe


def everything(p: Probe, *threads: str) -> Any:
    """What the threads hold."""
    found = []
    for thread in threads:
        items = p.tuples(p.config(thread, None))
        found.append(
            items
            if isinstance(items, str)
            else [
                (
                    i.config,
                    p.number(i),
                    i.checkpoint["channel_values"],
                    i.metadata,
                    i.parent_config,
                    i.pending_writes,
                )
                for i in sorted(items, key=lambda item: str(item.config))
            ]
        )
    return found


def two_threads(p: Probe) -> None:
    """Thread a has two namespaces and early writes, thread b the same ids, ab nothing of a."""
    for thread in ("a", "b", "ab"):
        p.put(1, thread=thread, values={"x": 1, "y": 1}, metadata={"run_id": "r1"})
        p.put(2, thread=thread, parent=1, values={"x": 2}, metadata={"run_id": "r2"})
        p.put(1, thread=thread, ns="n:1", values={"x": 1}, metadata={"run_id": "r1"})
        p.write(1, [("x", "late")], thread=thread)
        p.write(2, [("x", "now")], thread=thread)
        p.write(1, [("x", "nested")], thread=thread, ns="n:1")
        p.write(3, [("x", "early")], thread=thread)
