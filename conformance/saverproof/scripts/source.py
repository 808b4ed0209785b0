"""Values, and the versions of channels, as Python source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from typing import Any

from saverproof.programs.values.metadata import LONG_TEXT, LONG_TEXT_SOURCE


def literal(value: Any) -> str:
    """Return plain JSON data as an expression, in ASCII, so that lookalike names can be told
    apart.
    """
    if isinstance(value, Mapping):
        return dict_source({key: literal(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if value == LONG_TEXT:
        return LONG_TEXT_SOURCE
    return quoted(value) if isinstance(value, str) else ascii(value)


def quoted(text: str) -> str:
    """Return a text in double quotes, in ASCII."""
    inner = ascii(text)
    if inner[0] == '"' or '"' in inner:
        return inner
    return f'"{inner[1:-1]}"'


def dict_source(items: Mapping[str, str]) -> str:
    """Return a dict display; the values are source already."""
    return f"{{{', '.join(f'{literal(key)}: {item}' for key, item in items.items())}}}"


def keyword_arguments(items: Mapping[str, str]) -> list[str]:
    """Return the arguments of a call. Their names may be any text; their values are source
    already.
    """
    return [
        f"{name}={item}"
        if name.isidentifier() and not iskeyword(name)
        else f"**{dict_source({name: item})}"
        for name, item in items.items()
    ]


def symbols(versions: Mapping[str, Any]) -> dict[str, str]:
    """Return channel -> the script's name for its version."""
    return {name: str(version) for name, version in versions.items()}


def highest(versions: Iterable[str]) -> str:
    """Return the source of the highest of some versions, which are names in a script."""
    known = list(dict.fromkeys(versions))
    return f"max({', '.join(known)})" if len(known) > 1 else (known or ["None"])[0]


def versions_source(versions: Mapping[str, Any]) -> str:
    """Return the versions of channels as source: a variable that holds just these, or a dict."""
    if len(versions) == 1:
        ((channel, version),) = versions.items()
        name, item, _ = str(version).partition(f"[{quoted(channel)}]")
        if item:
            return name
    return dict_source(symbols(versions))


def nested(seen: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the versions seen by each node, as source."""
    return dict_source({node: versions_source(versions) for node, versions in seen.items()})
