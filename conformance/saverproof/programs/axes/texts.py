"""Oddities of texts, and a way to tell values apart that print alike."""

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
"""A length in characters that does not fit a column for short texts (up to 255)."""


def oddities(text: str) -> Iterator[str]:
    """Yield the oddities of a text, by the names of the points on the text axes."""
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
    """Return a text for a metadata value that differs for values which print alike, such as 1 and
    "1".
    """
    return repr(value)
