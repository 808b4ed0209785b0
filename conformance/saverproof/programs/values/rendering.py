"""Displays any object in one short line, even if its repr raises."""

from __future__ import annotations

import reprlib
from typing import Any

_DEFAULT_WIDTH = 300


class _Short(reprlib.Repr):
    """A repr that shortens before it formats, so that 10 MB of text cost nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.maxlevel = 8
        self.maxdict = self.maxlist = self.maxtuple = 40
        self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 40
        self.maxstring = self.maxother = self.maxlong = width

    def repr_bytes(self, value: bytes, level: int) -> str:
        short = repr(value[: self.maxstring])
        return short if len(value) <= self.maxstring else f"{short}..."

    repr_bytearray = repr_bytes

    def repr_instance(self, value: Any, level: int) -> str:
        try:
            text = repr(value)
        except Exception as error:  # noqa: BLE001 (a saver may return anything)
            return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
        return text if len(text) <= self.maxother else f"{text[: self.maxother]}..."


def show(value: Any, width: int = _DEFAULT_WIDTH) -> str:
    """Return a repr of at most `width` characters, in one printable line without surrogates.

    It never raises: an object whose repr raises is shown by its class.
    """
    try:
        text = _Short(width).repr(value)
    except Exception as error:  # noqa: BLE001 (hostile containers: __len__, __iter__, __hash__)
        text = f"<{type(value).__name__}: showing it raised {type(error).__name__}>"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."
