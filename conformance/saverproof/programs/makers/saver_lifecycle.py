"""Makers of steps that open, close or copy the saver itself."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from saverproof.model.store import Model
from saverproof.programs.theme import Theme
from saverproof.steps.definitions import (
    Clone,
    CloseAgain,
    DropClone,
    Reopen,
    SetUp,
    Step,
)


def reopen(model: Model, choose: Random, theme: Theme) -> Reopen:
    """Close and open again."""
    return Reopen()


def set_up(model: Model, choose: Random, theme: Theme) -> SetUp:
    """Set the store up once more."""
    return SetUp()


def close_again(model: Model, choose: Random, theme: Theme) -> CloseAgain:
    """Close twice."""
    return CloseAgain()


def clone(model: Model, choose: Random, theme: Theme) -> Step:
    """Go on through a shallow copy, or drop it: nothing in LangGraph closes one."""
    kind: Callable[[], Step] = choose.choice((Clone, DropClone))
    return kind()
