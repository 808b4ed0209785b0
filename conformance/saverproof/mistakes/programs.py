"""The shortest program that shows each known mistake where it is the only one.

A saver that is wrong somewhere is put to all of them: what one mistake hides in programs that are
made at random, another's own program shows.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PROGRAMS_FILE = Path(__file__).with_name("programs.json")
SHOWN_FILE = Path(__file__).with_name("shown.json")


@cache
def programs() -> dict[str, Any]:
    """The name of a mistake -> its program, as JSON; mistakes that no short program shows lack."""
    return _read(PROGRAMS_FILE)


@cache
def shown() -> dict[str, list[str]]:
    """The name of a mistake -> the names of the facts that its program shows to differ."""
    return _read(SHOWN_FILE)


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
