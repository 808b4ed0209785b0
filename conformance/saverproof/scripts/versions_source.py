"""The versions of channels as source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.scripts.source import dict_source, quoted


def symbols(versions: Mapping[str, Any]) -> dict[str, str]:
    """Each channel with what its version is called in the script."""
    return {name: str(version) for name, version in versions.items()}


def versions_source(versions: Mapping[str, Any]) -> str:
    """The versions of channels; if the script has just these in a variable, that."""
    if len(versions) == 1:
        ((channel, version),) = versions.items()
        name, item, _ = str(version).partition(f"[{quoted(channel)}]")
        if item:
            return name
    return dict_source(symbols(versions))


def nested(seen: Mapping[str, Mapping[str, Any]]) -> str:
    """The versions seen by each node."""
    return dict_source({node: versions_source(versions) for node, versions in seen.items()})
