"""Finds the place in the author's code from which an error came."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path

_LIBRARY = Path(sysconfig.get_path("stdlib"))
_THIRD_PARTY = _LIBRARY / "site-packages"
_OURS = Path(__file__).parents[2]


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback without those of the kit and the standard library."""
    return [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        # Generated code, such as import machinery and methods of dataclasses, has no file.
        if not frame.filename.startswith("<") and _is_foreign(Path(frame.filename))
    ]


def raised_in(function: Callable[..., object], error: BaseException) -> bool:
    """Return whether a line of this function raised, directly or in the standard library."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = own_frames(error)
    return (
        code is not None
        and bool(frames)
        and (frames[-1].filename, frames[-1].name) == (code.co_filename, code.co_name)
    )


def place(error: BaseException) -> str:
    """Return `` (FILE, line N)`` for the last line of the author's code, or "" if there is none."""
    frames = own_frames(error)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def shown(error: BaseException) -> str:
    """Return the traceback as Python prints it, without the kit's and the standard library's
    frames.
    """
    lines = traceback.format_list(own_frames(error))
    return "".join([*lines, *traceback.format_exception_only(error)])


def _is_foreign(file: Path) -> bool:
    if file.is_relative_to(_OURS):
        return False
    return not file.is_relative_to(_LIBRARY) or file.is_relative_to(_THIRD_PARTY)
