"""Says which methods a saver has made its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.target import Target


def overrides(saver: Any, name: str) -> bool:
    """Return whether a saver has a method of its own in place of the base class's."""
    own = getattr(type(saver), name, None)
    return own is not None and own is not getattr(BaseCheckpointSaver, name, None)


def target_overrides(target: Target, folder: Path, loop: Loop, name: str) -> bool:
    """Return whether a target's saver, which is opened for that, has a method of its own.

    Raises:
        OpeningError: the saver could not be opened or closed.
    """
    with (
        fresh_workspace(folder, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        return overrides(saver, name)
