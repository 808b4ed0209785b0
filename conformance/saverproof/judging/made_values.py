"""Objects made from values once, for comparisons only."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from saverproof.programs.values import Value


@lru_cache(maxsize=8_192)
def made_of(value: Value) -> Any:
    """Return the object that a value stands for. It is shared: never give it to a saver."""
    return value.make()
