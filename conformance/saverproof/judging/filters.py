"""Which contract a metadata filter puts to the test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from saverproof.model.metadata import equal

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_]+")
_DOTTED_KEY = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)+")


FILTER_CONTRACTS = (
    "filter/equality",
    "filter/none",
    "filter/nested",
    "filter/dotted-key",
    "isolation/hostile-filter-keys",
)
"""The contracts that filters put to the test, the most special last."""


def contract_of_filter(
    filter_: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
) -> str:
    """The contract of the filter's most special entry.

    With the metadata of a checkpoint that was listed wrongly, of the entry it does not equal.
    """
    entries = [
        (key, value)
        for key, value in filter_.items()
        if metadata is None or not equal(value, metadata.get(key))
    ]
    ranked = [_contract(key, value) for key, value in entries or filter_.items()]
    return max(ranked, key=FILTER_CONTRACTS.index, default="filter/equality")


def _contract(key: str, value: Any) -> str:
    if _DOTTED_KEY.fullmatch(key):
        return "filter/dotted-key"
    if not _PLAIN_KEY.fullmatch(key):
        return "isolation/hostile-filter-keys"
    if value is None:
        return "filter/none"
    return "filter/nested" if isinstance(value, (dict, list)) else "filter/equality"
