"""docs/field.svg: the matrix of docs/field.md as a picture, for light screens and dark ones."""

from __future__ import annotations

from field_page import COLUMNS, newest, savers, template

_LEFT, _CELL, _HEAD, _ROW = 190, 74, 34, 22
"""Pixels of the names, of a cell's width, of the heads and of a row: 33 savers fill a screen."""
_LEGEND = (
    "✓ nothing broken was found · ✗ 2: two musts are broken · "
    "? 1: one was not judged, none is broken · – does not apply",
    "* judged on a stand-in. saverproof, quick profile: docs/field.md",
)


def picture() -> str:
    """Return docs/field.svg."""
    rows = newest([one for one in savers() if one.judged])
    return template("field.svg.j2").render(
        columns=COLUMNS,
        rows=rows,
        legend=_LEGEND,
        left=_LEFT,
        cell=_CELL,
        head=_HEAD,
        row=_ROW,
        width=_LEFT + len(COLUMNS) * _CELL + 10,
        height=_HEAD + len(rows) * _ROW + 22 + 18 * len(_LEGEND),
    )
