"""What is odd about a text, and which values print alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_SIGNS = {
    "wildcards": re.compile(r"[%*?\[\]_]"),
    "quotes": re.compile(r"['\"`;]"),
    "separators": re.compile(r"[:|/,\-#$.\x1f{}]"),
    "path steps": re.compile(r"\.\.|\./|/$|\\"),
    "NUL": re.compile("\0"),
    "digits": re.compile(r"^[-+]?\d"),
    "upper case": re.compile("[A-Z]"),
    "Unicode": re.compile(r"[^\x00-\x7f]"),
}
VERY_LONG = 256
"""More characters than a short text column holds."""


def oddities(text: str) -> Iterator[str]:
    """What is odd about a text, by the names of the points of the axes of texts."""
    if not text:
        yield "empty"
    elif re.fullmatch("[a-z]+", text) and len(text) < VERY_LONG:
        yield "plain"
        return
    for name, sign in _SIGNS.items():
        if sign.search(text):
            yield name
    if text != text.strip():
        yield "padded"
    if len(text) >= VERY_LONG:
        yield "very long"


def alike(value: Any) -> str:
    """How a value of metadata is written, which tells those apart that print alike."""
    return repr(value)
