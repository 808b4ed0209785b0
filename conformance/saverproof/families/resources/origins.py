"""Finds where descriptors are opened, from the interpreter's audit events."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

_OPENING = frozenset({"open", "sqlite3.connect", "socket.connect", "os.open"})
_KIT = str(Path(__file__).parents[2])
_NOT_OF_SAVERS = (
    sysconfig.get_path("stdlib"),
    *(f"{_KIT}/{name}" for name in ("execution", "families", "targets", "process")),
)


class _Heard:
    """The place where the audit hook records what it hears. A hook cannot be removed, so it does
    nothing while ``places`` is None.
    """

    places: dict[str, str] | None = None
    installed = False


@contextmanager
def openings() -> Iterator[dict[str, str]]:
    """Yield, for each file, the place at which it was last opened in the block; "socket" stands for
    all connections.
    """
    if not _Heard.installed:
        sys.addaudithook(_hear)
        _Heard.installed = True
    places: dict[str, str] = {}
    _Heard.places = places
    try:
        yield places
    finally:
        _Heard.places = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    places = _Heard.places
    if places is None or event not in _OPENING:
        return
    opened = "socket" if event == "socket.connect" else str(arguments[0])
    if (place := _place(sys._getframe(1))) is not None:
        places[opened] = place


def _place(frame: FrameType | None) -> str | None:
    """Return the innermost line that belongs neither to the standard library nor to the kit."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*_NOT_OF_SAVERS, "<")) or "site-packages" in file:
            name = "/".join(Path(file).parts[-3:])
            return f"{name}:{frame.f_lineno}, in {frame.f_code.co_qualname}"
        frame = frame.f_back
    return None
