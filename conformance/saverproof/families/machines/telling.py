"""Formats a violated contract as lines of text, for failures of items and of machines."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from saverproof.contracts.registry import UnknownContract, contract
from saverproof_reports.excerpts import excerpts

_STEPS_SHOWN = 30
"""How many steps of a program a failure shows: the last ones, which led to the breach."""


def detail_lines(finding: Mapping[str, Any], promise: str = "") -> list[str]:
    """Return the contract's statement and source, what was expected and observed, and the program.

    ``promise`` is the statement of a contract that is not in the kit's tables.
    """
    lines: list[str] = []
    try:
        promised = contract(finding["contract"])
    except UnknownContract:
        lines += field("promise", promise) if promise else []
    else:
        lines += field("promise", promised.statement)
        lines += field("source", promised.source)
    expected, observed = excerpts(finding["expected"], finding["observed"])
    lines += field("expected", expected)
    lines += field("observed", observed)
    if mistake := finding.get("mistake"):
        lines += field("as if", mistake)
    steps = list(finding["steps"])
    if steps:
        shown = steps[-_STEPS_SHOWN:]
        left_out = len(steps) - len(shown)
        lines.append(f"  steps     ({left_out} earlier ones left out)" if left_out else "  steps")
        lines += [f"    {number}. {step}" for number, step in enumerate(shown, left_out + 1)]
    return lines


def field(name: str, text: str) -> list[str]:
    """Return a name and a text as lines: the text's further lines follow below its first one."""
    first, *rest = text.split("\n") or [""]
    return [f"  {name:<9} {first}", *textwrap.indent("\n".join(rest), " " * 12).splitlines()]
