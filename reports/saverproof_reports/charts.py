"""The shapes of the charts: figures arranged into bars, columns and cells, colours aside."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saverproof_reports.sections import percentile, recoveries

MOST_CELLS = 300
"""Cells of one row of the fault map; above that only those that are not clean are drawn."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: `share` is its percentage of the bar's full width."""

    name: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart."""

    label: str
    total: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a histogram: `count` figures in [`start`, `end`), `share` percent high."""

    start: float
    end: float
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class FaultRow:
    """The places of one operation that were failed in one way, in order."""

    kind: str
    cells: tuple[Mapping[str, Any], ...]
    total: int
    undrawn: int


def composition(label: str, counts: Mapping[str, int], order: Iterable[str]) -> Bar:
    """A bar of full width, divided as `counts` are, in `order`; without empty segments."""
    total = sum(counts.values())
    segments = tuple(
        Segment(name, counts[name], round(100 * counts[name] / total, 3))
        for name in order
        if counts.get(name)
    )
    return Bar(label, total, segments)


def lengths(counts: Mapping[str, int]) -> list[Bar]:
    """A bar for each count, the greatest of full width."""
    greatest = max(counts.values(), default=0) or 1
    return [
        Bar(label, count, (Segment(label, count, round(100 * count / greatest, 3)),))
        for label, count in counts.items()
    ]


def kill_bars(trials: Sequence[Mapping[str, Any]], order: Iterable[str]) -> list[Bar]:
    """For each operation and kind of place, what was found after the kills there."""
    outcomes = tuple(order)
    counted: dict[str, Counter[str]] = {}
    for trial in trials:
        row = counted.setdefault(f"{trial['operation']}, {trial['kind']}", Counter())
        row[trial["outcome"]] += trial.get("count", 1)
    return [composition(label, counts, outcomes) for label, counts in sorted(counted.items())]


def recovery_columns(trials: Sequence[Mapping[str, Any]], columns: int = 24) -> list[Column]:
    """The distribution of recovery times; what lies above the 99th percentile in the last."""
    figures = [figure for trial in trials for figure in recoveries(trial)]
    if not figures:
        return []
    top = percentile(figures, 99) or 1.0
    width = top / (columns - 1)
    counts = Counter(min(columns - 1, int(figure / width)) for figure in figures)
    highest = max(counts.values())
    return [
        Column(
            number * width,
            (number + 1) * width if number < columns - 1 else max(figures),
            counts[number],
            round(100 * counts[number] / highest, 3),
        )
        for number in range(columns)
    ]


def fault_map(places: Sequence[Mapping[str, Any]]) -> dict[str, list[FaultRow]]:
    """The fault map: for each operation a row for each kind of fault, as they first come."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for place in places:
        found.setdefault(place["operation"], {}).setdefault(place["kind"], []).append(place)
    return {
        operation: [_fault_row(kind, cells) for kind, cells in kinds.items()]
        for operation, kinds in found.items()
    }


def _fault_row(kind: str, cells: list[Mapping[str, Any]]) -> FaultRow:
    total = sum(cell.get("count", 1) for cell in cells)
    drawn = cells
    if len(cells) > MOST_CELLS:
        drawn = [cell for cell in cells if cell["outcome"] != "clean"][:MOST_CELLS]
    return FaultRow(kind, tuple(drawn), total, len(cells) - len(drawn))
