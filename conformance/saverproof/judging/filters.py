"""Classifies the entries of metadata filters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from saverproof.judging.facts import FilterSort
from saverproof.programs.model.metadata import equal

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_]+")
_DOTTED_KEY = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)+")


def sort_of(filter_: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> FilterSort:
    """Return the sort of the filter's most special entry.

    With the metadata of a wrongly listed checkpoint, consider only entries that it does not match.
    """
    entries = [
        (key, value)
        for key, value in filter_.items()
        if metadata is None or not equal(value, metadata.get(key))
    ]
    ranked = [_sort(key, value) for key, value in entries or filter_.items()]
    return max(ranked, key=lambda sort: sort.value, default=FilterSort.EQUALITY)


def _sort(key: str, value: Any) -> FilterSort:
    if _DOTTED_KEY.fullmatch(key):
        return FilterSort.DOTTED_KEY
    if not _PLAIN_KEY.fullmatch(key):
        return FilterSort.HOSTILE_KEY
    if value is None:
        return FilterSort.NONE
    return FilterSort.NESTED if isinstance(value, (dict, list)) else FilterSort.EQUALITY
