"""Displays any object in one short line, even if its repr raises."""

from __future__ import annotations

import reprlib
from itertools import islice
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


class _InOrder(_Short):
    """A repr that leaves the entries of dicts in the order in which they were given."""

    def repr_dict(self, value: dict[Any, Any], level: int) -> str:
        if level <= 0:
            return "{...}" if value else "{}"
        shown = [
            f"{self.repr1(key, level - 1)}: {self.repr1(entry, level - 1)}"
            for key, entry in islice(value.items(), self.maxdict)
        ]
        more = ["..."] if len(value) > self.maxdict else []
        return f"{{{', '.join([*shown, *more])}}}"


def show(value: Any, width: int = _DEFAULT_WIDTH) -> str:
    """Return a repr of at most `width` characters, in one printable line without surrogates.

    Equal dicts give one text: their entries are sorted. It never raises: an object whose repr
    raises is shown by its class.
    """
    return _shown(_Short(width), value, width)


def show_in_order(value: Any, width: int = _DEFAULT_WIDTH) -> str:
    """Return what :func:`show` does, but with the entries of dicts in their own order.

    A saver may tell two equal dicts apart that were filled in another order.
    """
    return _shown(_InOrder(width), value, width)


def _shown(how: reprlib.Repr, value: Any, width: int) -> str:
    try:
        text = how.repr(value)
    except Exception as error:  # noqa: BLE001 (hostile containers: __len__, __iter__, __hash__)
        text = f"<{type(value).__name__}: showing it raised {type(error).__name__}>"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."
