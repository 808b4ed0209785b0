"""Standalone scripts that show what is wrong between callers."""

from __future__ import annotations

from typing import Any

from saverproof.concurrency.record import Problem
from saverproof.targets.target import Target


def reproducer(target: Target, problem: Problem, scene: dict[str, Any], api: str) -> str:
    """The source of a script that shows a problem by itself, or "" if none was seen to."""
    return ""
