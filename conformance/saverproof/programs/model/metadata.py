"""Rules for metadata: what a checkpoint ends up with, and when a filter selects it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.programs.steps.definitions import Extras

_EXCLUDED = frozenset(
    {
        "thread_id",
        "checkpoint_id",
        "checkpoint_ns",
        "checkpoint_map",
        "langgraph_step",
        "langgraph_node",
        "langgraph_triggers",
        "langgraph_path",
        "langgraph_checkpoint_ns",
    }
)


_BARRED = frozenset({"checkpoint_id", "checkpoint_ns", "checkpoint_map"})
"""Keys of a config that were never part of the metadata."""
_LOOP_KEYS = ("__pregel_task_id", "__pregel_durability")


def without_nul(value: Any) -> Any:
    """Return a string without NUL characters, other values as they are.

    ``get_checkpoint_metadata`` does so with top-level strings.
    """
    return value.replace("\0", "") if isinstance(value, str) else value


def given(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of the metadata that a put gave."""
    return {key: without_nul(value) for key, value in metadata.items()}


def merged(metadata: Mapping[str, Any], extras: Extras) -> dict[str, Any]:
    """Return the keys that the metadata takes from the config; they override no key that was
    given.
    """
    joined: dict[str, Any] = {}
    for source in (extras.metadata, extras.configurable):
        for key, value in (source or {}).items():
            if key in metadata or key in joined or key in _EXCLUDED or key.startswith("__"):
                continue
            if isinstance(value, (str, int, float)):
                joined[key] = without_nul(value)
    return joined


def barred(metadata: Mapping[str, Any], extras: Extras) -> frozenset[str]:
    """Return the keys of the config that must not become part of the metadata."""
    given_keys = {*(extras.metadata or ()), *(extras.configurable or ())}
    private = {key for key in given_keys if key.startswith("__")}
    loop = _LOOP_KEYS if extras.loop else ()
    return _BARRED.union(private, loop) - metadata.keys()


def selects(filter_: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Return whether the metadata equals the filter in every key; a missing key equals None."""
    return all(equal(value, metadata.get(key)) for key, value in filter_.items())


def equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal as JSON.

    Numbers are compared by value; a boolean equals only the same boolean.
    """
    kind = type(left)
    if kind is type(right) and (kind is str or kind is int):
        return bool(left == right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)
