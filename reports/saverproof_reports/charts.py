"""The shapes of the charts: figures arranged into bars, columns and cells, without colours."""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from saverproof_reports.sections import recoveries

MOST_CELLS = 300
"""The most cells of one row of places. A longer row shows only those at which something went
wrong.
"""

MOST_BARS = 40
"""The most bars of one chart. The smaller ones beyond them are added up in one more bar."""

LEAST_SHARE = 1.5
"""Percent of the full width that the smallest count takes, so that it can be seen."""

COUNT = ""
"""The name of a segment that is only a count, neither good nor bad."""

_UNHARMED = frozenset({"clean", "absent", "whole"})
_AFTER = "after "
_IN_ORDER = ("statement", "io", "system call", "call", "acknowledged", "instant", "recovery")
"""The kinds of places of a kill: those inside an operation, its end, and any time."""

_STEPS = (1, 1.5, 2, 3, 5, 7)
"""The bounds of columns within each power of ten, about 1.5 times as large from one to the next."""
_BOUNDS = (0.0, *(step * 10.0**power for power in range(-1, 6) for step in _STEPS), inf)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar. ``share`` is its percentage of the chart's full width."""

    name: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart. ``told`` are its figures in words."""

    label: str
    told: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a histogram: ``count`` figures in [``start``, ``end``)."""

    start: float
    end: float
    count: int


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A row of places: one operation, one kind of fault or kill, in order."""

    kind: str
    cells: tuple[Mapping[str, Any], ...]
    total: int
    undrawn: int


def composition(label: str, counts: Mapping[str, int], order: Iterable[str]) -> Bar:
    """Return a bar of full width, divided by ``counts`` in ``order``, without empty segments."""
    total = sum(counts.values())
    found = {name: counts[name] for name in order if counts.get(name)}
    seen = {name: max(100 * count / total, LEAST_SHARE) for name, count in found.items()}
    scale = 100 / (sum(seen.values()) or 1)
    segments = tuple(
        Segment(name, count, round(scale * seen[name], 3)) for name, count in found.items()
    )
    told = ", ".join(f"{segment.count:,} {segment.name}" for segment in segments)
    return Bar(label, told, segments)


def lengths(counts: Mapping[str, int]) -> list[Bar]:
    """Return a bar for each count; the greatest has full width."""
    kept = dict(counts)
    if len(counts) > MOST_BARS:
        greatest_first = sorted(counts, key=lambda label: -counts[label])
        kept = {label: counts[label] for label in greatest_first[:MOST_BARS]}
        rest = greatest_first[MOST_BARS:]
        kept[f"{len(rest):,} others"] = sum(counts[label] for label in rest)
    return [_length(label, count, COUNT, kept.values()) for label, count in kept.items() if count]


def power_bars(by_lost: Mapping[str, int]) -> list[Bar]:
    """Return bars of disk images by the number of acknowledged operations that they lack."""
    in_order = sorted(by_lost, key=lambda lost: (len(lost), lost))
    words = {"0": "no operation", "1": "1 operation"}
    return [
        _length(
            words.get(lost, f"{lost} operations"),
            by_lost[lost],
            "whole" if lost == "0" else "lost",
            by_lost.values(),
        )
        for lost in in_order
        if by_lost[lost]
    ]


def power_outcomes(power: Mapping[str, Any]) -> Bar:
    """Return a bar of all disk images by what they hold."""
    by_lost = power.get("by_lost", {})
    counts = {
        "whole": by_lost.get("0", 0),
        "lost": sum(count for lost, count in by_lost.items() if lost != "0"),
        "torn": power.get("torn", 0),
        "gap": power.get("reordered", 0),
        "unopened": power["corrupt"],
    }
    return composition("disk images", counts, counts)


def scene_outcomes(callers: Mapping[str, Any]) -> list[Bar]:
    """Return a bar for each contract that a scene showed broken: in how many, and in how many not.

    A scene may show several broken.
    """
    scenes = sum(callers["scenes"].values())
    return [
        composition(contract, {"broken": count, "kept": max(0, scenes - count)}, ("broken", "kept"))
        for contract, count in callers["broken_in"].items()
    ]


def _length(label: str, count: int, name: str, counts: Iterable[int]) -> Bar:
    share = max(100 * count / max(counts), LEAST_SHARE)
    return Bar(label, f"{count:,}", (Segment(name, count, round(share, 3)),))


def recovery_columns(trials: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return the distribution of recovery times.

    Each column is about 1.5 times as wide as the last.
    """
    figures = [figure for trial in trials for figure in recoveries(trial)]
    if not figures:
        return []
    last = len(_BOUNDS) - 2
    counts = Counter(min(bisect(_BOUNDS, figure) - 1, last) for figure in figures)
    first, final = min(counts), max(counts)
    if final - first < 2:
        first, final = max(first - 1, 0), min(final + 1, last)
    return [
        Column(_BOUNDS[number], _BOUNDS[number + 1], counts[number])
        for number in range(first, final + 1)
    ]


def fault_map(places: Sequence[Mapping[str, Any]]) -> dict[str, list[PlaceRow]]:
    """Return the fault map: for each operation a row for each kind of fault."""
    return _map(places)


def kill_timeline(trials: Sequence[Mapping[str, Any]]) -> dict[str, list[PlaceRow]]:
    """Return the kills: for each operation a row for each kind of place.

    The kinds stand in the order in which the operation passes them. A kill after it had returned
    counts as one at its end.
    """
    in_order = sorted(trials, key=lambda trial: trial.get("at", 0))
    ended = [{**one, "operation": one["operation"].removeprefix(_AFTER)} for one in in_order]
    kinds = {kind: number for number, kind in enumerate(_IN_ORDER)}
    found = _map(sorted(ended, key=lambda one: kinds.get(one["kind"], len(kinds))))
    ranks = {"opening": -1, "between operations": 1, "closing": 2}
    return dict(sorted(found.items(), key=lambda entry: ranks.get(entry[0], 0)))


def _map(places: Iterable[Mapping[str, Any]]) -> dict[str, list[PlaceRow]]:
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for place in places:
        found.setdefault(place["operation"], {}).setdefault(place["kind"], []).append(place)
    return {
        operation: [_row(kind, cells) for kind, cells in kinds.items()]
        for operation, kinds in found.items()
    }


def _row(kind: str, cells: list[Mapping[str, Any]]) -> PlaceRow:
    total = sum(cell.get("count", 1) for cell in cells)
    drawn = cells
    if len(cells) > MOST_CELLS:
        drawn = [cell for cell in cells if cell["outcome"] not in _UNHARMED][:MOST_CELLS]
    return PlaceRow(kind, tuple(drawn), total, len(cells) - len(drawn))
