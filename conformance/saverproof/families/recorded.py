"""Reads what a finding has recorded of growing counts, so that they can be counted again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

FEWEST_SIZES = 3
"""The fewest sizes at which a count is recorded: fewer would show no law."""


def read_recorded(data: object, known: Mapping[str, Collection[str]], sizes: str) -> list[Any]:
    """Return the values of a finding's ``program``: those of the keys ``known``, then the sizes.

    Each key of ``known`` is given with its allowed values. The sizes are rising whole numbers under
    the key ``sizes``.

    Raises:
        ValueError: the data does not have this form; one line says what was found and expected.
    """
    keys = (*known, sizes)
    if not isinstance(data, Mapping) or any(key not in data for key in keys):
        raise ValueError(f"found {data!r:.60}, expected an object with {', '.join(keys)}")
    for key, names in known.items():
        if data[key] not in names:
            raise ValueError(f"{key}: found {data[key]!r:.60}, expected one of {', '.join(names)}")
    found = data[sizes]
    whole = isinstance(found, list) and all(type(size) is int and size > 0 for size in found)
    if not whole or len(found) < FEWEST_SIZES or sorted(set(found)) != found:
        raise ValueError(
            f"{sizes}: found {found!r:.60}, expected three or more whole numbers, rising"
        )
    return [data[key] for key in keys]
