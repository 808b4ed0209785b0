"""Takes apart what a saver answered, which may be anything at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_mapping(value: Any) -> bool:
    """Whether a value is a mapping; asked of almost nothing but dicts."""
    return type(value) is dict or isinstance(value, Mapping)


def field(observed: Any, name: str) -> Any:
    """One field of a tuple that may not be a tuple at all."""
    return getattr(observed, name, None)


def shown_id(observed: Any) -> Any:
    """The id that a tuple's checkpoint says it has."""
    checkpoint = field(observed, "checkpoint")
    return checkpoint.get("id") if is_mapping(checkpoint) else None


def part(config: Any, key: str) -> Any:
    """One entry of a config's ``configurable``, or None, whatever the config is."""
    return _configurable(config).get(key)


def place(config: Any) -> tuple[Any, Any, Any]:
    """The thread, the namespace and the checkpoint id of a config, whatever the config is."""
    parts = _configurable(config)
    return parts.get("thread_id"), parts.get("checkpoint_ns") or "", parts.get("checkpoint_id")


def _configurable(config: Any) -> Mapping[str, Any]:
    parts = config.get("configurable") if is_mapping(config) else None
    return parts if parts is not None and is_mapping(parts) else {}
