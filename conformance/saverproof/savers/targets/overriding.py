"""Says which methods a saver has made its own."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver


def overrides(saver: Any, name: str) -> bool:
    """Return whether a saver has a method of its own in place of the base class's."""
    own = getattr(type(saver), name, None)
    return own is not None and own is not getattr(BaseCheckpointSaver, name, None)
