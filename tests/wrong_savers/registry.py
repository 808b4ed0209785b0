"""Deliberately wrong savers are registered with the known mistakes of the kit."""

from __future__ import annotations

from saverproof.mistakes.registry import (
    REGISTERED,
    Mistake,
    Opener,
    WorkspaceLike,
    mistake,
    opener,
)

WrongSaver = Mistake
wrong = mistake

__all__ = ["REGISTERED", "Opener", "WorkspaceLike", "WrongSaver", "opener", "wrong"]
