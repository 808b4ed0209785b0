"""Keys and values for the metadata of checkpoints, all plain JSON."""

from __future__ import annotations

from typing import Any

METADATA_KEYS: tuple[str, ...] = (
    *("user_id", "score", "tags", "Key", "key", "k2"),
    *("a.b", "with space", "it's", 'quo"ted', "back\\slash", "$path", "@at", "[0]", "%", "#"),
    *("\u00fcber", "\u952e", "\U0001f9ff", "-", "0"),
)
"""Keys of metadata besides LangGraph's own (source, step, parents, run_id)."""

FILTER_KEYS: tuple[str, ...] = ("user_id", "score", "tags", "Key", "key", "k2", "source", "step")
"""Keys of letters, digits and underscores, which every saver must be able to filter by."""

FILTER_VALUES: tuple[str | int | float | bool, ...] = (
    *("", "a", "A", "1", "true", "null", "it's", 'quo"ted', "%", "_", "back\\slash"),
    *("\u00e9", "e\u0301", "\U0001f9ff", " padded "),
    *(0, 1, -1, 2, 10, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)),
    *(0.5, -0.25, 1.5, 1e16, 1e-7),
    *(True, False),
)
"""Values that every saver must be able to filter by.

They are texts without NUL, 64-bit integers, finite floats and booleans.
"""

LONG_TEXT_SOURCE = "' '.join('x' * n for n in range(400))"
LONG_TEXT: str = eval(LONG_TEXT_SOURCE)
"""A text of 80 kB, longer than many columns hold, made from the expression above."""

METADATA_VALUES: tuple[Any, ...] = (
    *FILTER_VALUES,
    None,
    1.0,
    1.7976931348623157e308,
    5e-324,
    "line\nand\ttab",
    "line\r\nline\rline",
    "2024-02-29T12:30:00+00:00",
    "long " * 250 + "end",
    [],
    {},
    ["only"],
    [1, "a", None, True, 0.5, []],
    {"a": {"b": [1, {"c": None}]}},
    {"": 0, "a.b": False, "\u00fc": [[]]},
    {"run": {"ids": ["x", "y"], "n": 2**40}},
)
"""JSON values of every kind. They are shared: do not change them."""
