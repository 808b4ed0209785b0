"""Make text harmless that a saver under test had a hand in, for every format.

A saver's values, names and exceptions may hold terminal escapes, lone surrogates, text that changes
the reading direction, or ten megabytes of anything. All of it is shown as visible escapes
(``\x1b``, ``\udc80``), and cut.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

LIMIT = 4096
"""Most characters of one value in a report."""

_NAME_LIMIT = 256
"""Most characters of a key."""
_DEPTH_LIMIT = 64
"""The most levels of nesting: JSON readers give up at some depth."""
_SAFE_INTEGER = 1 << 64
"""The integers from which on numbers become text: readers keep them inexactly, or refuse them."""
# Controls except newline and tab, bidirectional and zero-width marks, line separators that only
# some readers know, the end of the BMP, and surrogates.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffc\ufffe\uffff\U000e0000-\U000e007f]"
)
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def harmless(text: str, limit: int = LIMIT) -> str:
    """Return ``text``, cut, with every harmful character as a visible escape.

    A cut text ends with the length of the whole.
    """
    escaped = _HARMFUL.sub(_escape, text[:limit])
    if len(text) <= limit and len(escaped) <= limit:
        return escaped
    note = f"… (cut: {len(text):,} characters)"
    return escaped[: max(0, limit - len(note))] + note


def one_line(text: str, limit: int = 300) -> str:
    """Return ``text`` harmless and on one line, with runs of white space joined."""
    return harmless(" ".join(text[: 4 * limit].split()), limit)


def harmless_data(value: object, limit: int = LIMIT, depth: int = 0) -> Any:
    """Return a copy of ``value`` that any JSON reader takes: text harmless, numbers finite.

    Numbers that JSON readers disagree about become text. What is not plain data becomes the name of
    its type.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return harmless(value, limit)
    if isinstance(value, int):
        small = -_SAFE_INTEGER < value < _SAFE_INTEGER
        return int(value) if small else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if depth >= _DEPTH_LIMIT:
        return "<nested too deeply>"
    if isinstance(value, Mapping):
        return {_name(key): harmless_data(item, limit, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_data(item, limit, depth + 1) for item in value]
    return harmless(f"<{type(value).__name__}>", limit)


def _name(key: object) -> str:
    return harmless(key if isinstance(key, str) else f"{harmless_data(key)}", _NAME_LIMIT)


def slug(text: str, limit: int = 60) -> str:
    """Return ``text`` as a file name: ``[a-z0-9-]``, never empty, at most ``limit`` characters."""
    return _NOT_SLUG.sub("-", text[: 4 * limit].lower()).strip("-")[:limit].strip("-") or "x"
