"""Short programs that show a mistake: what they return differs from what the reference returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.wrong_savers.scenes.probe import Probe

Scene: TypeAlias = Callable[[Probe], Any]
SCENES: dict[str, Scene] = {}


def scene(contract: str) -> Callable[[Scene], Scene]:
    """Register the scene that shows a breach of the contract."""

    def register(function: Scene) -> Scene:
        SCENES[contract] = function
        return function

    return register
