"""The shortest program that shows each known mistake of a saver with no other mistake.

A wrong saver is tested with all of these programs: a mistake that another one hides in random
programs is shown by its own.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PROGRAMS_FILE = Path(__file__).with_name("programs.json")
SHOWN_FILE = Path(__file__).with_name("shown.json")
GRAPHS_FILE = Path(__file__).with_name("graphs.json")


@cache
def programs() -> dict[str, Any]:
    """Return the program for each mistake by name, as JSON. Mistakes without a short program are
    missing.
    """
    return _read(PROGRAMS_FILE)


@cache
def shown() -> dict[str, list[str]]:
    """Return the names of the facts that differ in each mistake's program, by the mistake's
    name.
    """
    return _read(SHOWN_FILE)


@cache
def met_by_graphs() -> frozenset[str]:
    """Return the names of the mistakes that change the result of a graph. They are few, as graphs
    remove nothing and filter nothing.
    """
    names: list[str] = json.loads(GRAPHS_FILE.read_text(encoding="utf-8"))
    return frozenset(names)


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
