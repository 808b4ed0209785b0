"""The objects that values stand for, made once; judging only compares them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from saverproof.values import Value


@lru_cache(maxsize=8_192)
def made_of(value: Value) -> Any:
    """The object a value stands for. It is shared: hand none of these to a saver."""
    return value.make()
