"""Takes apart a saver's answer, which may be any object at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_mapping(value: Any) -> bool:
    """Return whether a value is a mapping; dicts are tested first, as almost all values are
    dicts.
    """
    return type(value) is dict or isinstance(value, Mapping)


def field(observed: Any, name: str) -> Any:
    """Return an attribute of what should be a checkpoint tuple; None if it is missing."""
    return getattr(observed, name, None)


def shown_id(observed: Any) -> Any:
    """Return the checkpoint id that an answer shows, or None."""
    checkpoint = field(observed, "checkpoint")
    return checkpoint.get("id") if is_mapping(checkpoint) else None


def part(config: Any, key: str) -> Any:
    """Return one entry of a config's ``configurable``; None if it is missing or malformed."""
    return _configurable(config).get(key)


def place(config: Any) -> tuple[Any, Any, Any]:
    """Return a config's thread, namespace and checkpoint id; a missing namespace is the root ""."""
    parts = _configurable(config)
    return parts.get("thread_id"), parts.get("checkpoint_ns") or "", parts.get("checkpoint_id")


def _configurable(config: Any) -> Mapping[str, Any]:
    parts = config.get("configurable") if is_mapping(config) else None
    return parts if parts is not None and is_mapping(parts) else {}
