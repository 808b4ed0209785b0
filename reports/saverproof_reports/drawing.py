"""Charts as SVG inside a page: drawn by pygal, coloured by the page's own style sheet.

The same figures give the same SVG in every run. An SVG contains no script, no address and no id, so
that any number of charts can stand on one page.
"""

import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from saverproof_reports.charts import Bar, Column
from saverproof_reports.curves import Curve
from saverproof_reports.text import one_line

# In units of the SVG, which is as wide as its place on the page: some 320 pixels on a phone.
_WIDTH = 420
_FONT = 14
_SLOT = 9
_HISTOGRAM_HEIGHT = 200
_CURVES_HEIGHT = 200

_LINE_LENGTH = 48
"""Characters of a label's line that fit the width."""
_LABEL_LENGTH = 80
"""Most characters of a label, so that it takes two lines."""
_LONG_FIGURE = re.compile(r"-?\d+\.\d{2,}")
_SERIES = re.compile(r"series serie-(\d+) ")
_NAMESPACE = "{http://www.w3.org/2000/svg}"


def bars(rows: Sequence[Bar], about: str) -> Markup:
    """Draw ``rows`` one below the other, each under its label and its figures in words.

    ``about`` describes the chart for screen readers. A segment has the class ``o-`` and its name.
    Without rows the result is empty.
    """
    if not rows:
        return Markup()
    names = list(dict.fromkeys(segment.name for row in rows for segment in row.segments))
    slots: list[tuple[str, Bar | None]] = []
    for row in rows:
        slots += [slot for line in _lines(row) for slot in ((line, None), ("", None))]
        slots += [("", row), ("", None)]
    slots.pop()
    height = round(len(slots) * _SLOT)
    chart = _pygal().HorizontalStackedBar(
        **_options(height),
        show_x_labels=False,
        show_y_labels=False,
        print_labels=True,
        range=(0, max(sum(one.share for one in row.segments) for row in rows)),
    )
    for name in names:
        # pygal draws from the bottom to the top.
        chart.add(name, [_value(*slot, name) for slot in reversed(slots)])
        slots = [("", row) for _, row in slots]
    described = "; ".join(map(_caption, rows))
    return _svg(chart, [f"o-{name}" if name else "plain" for name in names], about, described)


def histogram(columns: Sequence[Column], about: str) -> Markup:
    """Draw a histogram: ``columns`` of equal width side by side, over milliseconds.

    ``about`` describes the chart for screen readers. Without columns the result is empty.
    """
    if not columns:
        return Markup()
    chart = _pygal().Histogram(
        **_options(_HISTOGRAM_HEIGHT) | {"margin_left": 0, "margin_right": 18, "margin_top": 6},
        x_labels=_bounds(columns),
        y_labels=_ticks(max(column.count for column in columns)),
        truncate_label=-1,
        value_formatter=lambda count: f"{count:,.0f}",
    )
    spans = [
        f"{_shown(column.start)} to {_shown(column.end)} ms: {column.count:,}" for column in columns
    ]
    values = [
        {"value": (column.count, number, number + 1), "tooltip": span}
        for number, (column, span) in enumerate(zip(columns, spans, strict=True))
    ]
    chart.add("", values)
    return _svg(chart, ["plain"], about, "; ".join(spans))


def curves(drawn: Sequence[Curve], about: str) -> Markup:
    """Draw curves with both axes logarithmic. A count of 0 is drawn at 1.

    The curves have the classes ``k-0`` to ``k-3`` in turn.
    """
    sizes = sorted({size for curve in drawn for size in curve.sizes})
    highest = max(max(curve.counts) for curve in drawn)
    powers = [10**power for power in range(len(str(max(highest, 1))) + 1)]
    chart = _pygal().XY(
        **_options(_CURVES_HEIGHT)
        | {"margin_left": 0, "margin_right": _half_width(f"{sizes[-1]:,}"), "margin_top": 6},
        logarithmic=True,
        dots_size=3,
        range=(1, powers[-1]),
        x_labels=[{"value": size, "label": f"{size:,}"} for size in sizes],
        y_labels=[{"value": power, "label": f"{power:,}"} for power in powers],
        truncate_label=-1,
    )
    captions = []
    for curve in drawn:
        points = list(zip(curve.sizes, curve.counts, strict=True))
        told = [f"{count:,} at {size:,}" for size, count in points]
        captions.append(f"{one_line(curve.name)}: {'; '.join(told)}")
        values = [{"value": (size, max(count, 1))} for size, count in points]
        chart.add("", values)
    classes = [f"k-{number % 4}" for number in range(len(drawn))]
    return _svg(chart, classes, about, ". ".join(captions))


def _half_width(label: str) -> int:
    """Return how far a label that stands below the edge of a plot goes beyond it."""
    return round(0.3 * _FONT * len(label)) + 2


def _pygal() -> Any:
    """Import pygal with the first chart: nothing else of a run needs it."""
    finders = list(sys.meta_path)
    import pygal

    # pygal adds a finder of a kind that Python 3.12 dropped: with it, Python 3.11 would warn at
    # every later import that fails.
    sys.meta_path[:] = [
        one for one in sys.meta_path if one in finders or type(one).__module__ != "pygal"
    ]
    return pygal


def _options(height: int) -> dict[str, Any]:
    # pygal keeps a fiftieth of the plot free at each end; negative margins take that back.
    edge = -round(_WIDTH * 0.02)
    return {
        "width": _WIDTH,
        "height": height,
        "style": _pygal().style.Style(label_font_size=_FONT, value_font_size=_FONT),
        "margin": 0,
        "margin_left": edge,
        "margin_right": edge,
        "show_legend": False,
        "js": (),
        "css": (),
        "no_prefix": True,
    }


def _caption(row: Bar) -> str:
    return f"{one_line(row.label)}: {row.told}"


def _lines(row: Bar) -> list[str]:
    label = one_line(row.label)
    if len(label) > _LABEL_LENGTH:
        label = label[:_LABEL_LENGTH].rstrip() + "…"
    # A no-break space keeps a count on one line with what it counts.
    told = row.told.replace(" ", "\xa0").replace(",\xa0", ", ")
    return textwrap.wrap(f"{label}: {told}", _LINE_LENGTH, break_on_hyphens=False)


def _value(line: str, row: Bar | None, name: str) -> dict[str, Any]:
    """Return one row's share of the segments called ``name``, as pygal takes it; 0 for a line of
    text.
    """
    if row is None:
        return {"value": 0, "label": line}
    share = sum(segment.share for segment in row.segments if segment.name == name)
    return {"value": share, "tooltip": _caption(row)}


def _bounds(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the bounds that are written below the columns: as many as there is room for."""
    bounds = [column.start for column in columns] + [columns[-1].end]
    room = 24 / len(columns)
    written = [
        (number, _shown(bound))
        for number, bound in enumerate(bounds)
        if room > 3 or f"{bound:.1e}".startswith("1.0" if room < 1 else ("1.0", "3.0"))
    ]
    return [{"value": number, "label": text} for number, text in written]


def _shown(bound: float) -> str:
    return f"{bound:,g}".replace("inf", "∞")


def _ticks(highest: int) -> list[int]:
    """Return at most five round counts, from zero to ``highest`` or a little more."""
    steps = (step * 10**power for power in range(400) for step in (1, 2, 5))
    step = next(step for step in steps if 4 * step >= highest)
    return list(range(0, highest + step, step))


def _svg(chart: Any, classes: Sequence[str], about: str, described: str) -> Markup:
    """Return pygal's SVG without style, scripts, ids and dates, described for screen readers."""
    drawn = ElementTree.fromstring(chart.render(is_unicode=True, disable_xml_declaration=True))
    for node in reversed(list(drawn.iter())):
        node.tag = node.tag.removeprefix(_NAMESPACE)
        for child in [child for child in node if _is_needless(child, node)]:
            node.remove(child)
        for name, value in node.attrib.items():
            node.set(name, _LONG_FIGURE.sub(lambda figure: f"{float(figure.group()):.1f}", value))
        if series := _SERIES.match(node.get("class", "")):
            node.set("class", f"series {classes[int(series[1])]}")
    view = drawn.get("viewBox", "")
    drawn.attrib.clear()
    drawn.attrib |= {"class": "drawn", "viewBox": view, "role": "img", "aria-label": about}
    description = ElementTree.Element("desc")
    description.text = described
    drawn.insert(0, description)
    return Markup(ElementTree.tostring(drawn, encoding="unicode"))


def _is_needless(node: ElementTree.Element, parent: ElementTree.Element) -> bool:
    kind = node.tag.removeprefix(_NAMESPACE)
    classes = node.get("class", "").split()
    if kind in ("defs", "desc") or {"background", "tooltip-overlay"} & set(classes):
        return True
    if kind == "g":
        return len(node) == 0
    if kind == "title":
        return parent.get("class") not in ("bar", "histbar")
    if kind == "rect":
        return float(node.get("width", 0)) <= 0 or float(node.get("height", 0)) <= 0
    return kind == "text" and not node.text
