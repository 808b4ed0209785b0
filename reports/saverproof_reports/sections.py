"""Merge the figures of several items into one section of the report."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saverproof_reports.verdicts import settles

Section = Mapping[str, Any]


def merge_faults(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``faults`` sections of items: counts are added, maps follow one another.

    A saver that no layer reached through any API is ``untried``.
    """
    parts = list(sections)
    merged = _merged(parts, {"points": 0, "injected": 0, "by_kind": {}})
    if not all(part.get("untried") for part in parts):
        merged.pop("untried", None)
    return merged


def merge_crash(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``crash`` sections of items.

    Percentiles are computed anew if all trials are listed.
    """
    parts = list(sections)
    empty = {"trials": 0, "kill_points": {}, "lost": 0, "torn": 0}
    merged = _merged([{**part, "recovery_ms": None} for part in parts], empty)
    figures = [value for trial in merged.get("trials_detail", []) for value in recoveries(trial)]
    merged["recovery_ms"] = (
        {"p50": percentile(figures, 50), "p99": percentile(figures, 99), "max": max(figures)}
        if figures
        else _worst([part["recovery_ms"] for part in parts if part.get("recovery_ms")])
    )
    return merged


def merge_power(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``power`` sections of items: images are added; the greatest of the losses
    counts.
    """
    parts = list(sections)
    empty = {"images": 0, "corrupt": 0}
    apart = {"lost_acknowledged_max": None, "failed_syncs": None}
    merged = _merged([{**part, **apart} for part in parts], empty)
    if failed := [part["failed_syncs"] for part in parts if part.get("failed_syncs")]:
        merged["failed_syncs"] = merge_power(failed)
    merged["lost_acknowledged_max"] = max(
        (part.get("lost_acknowledged_max", 0) for part in parts), default=0
    )
    return merged


def merge_concurrency(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``concurrency`` sections of items: counts are added."""
    return _merged(sections, {"scenes": {}, "operations": 0})


def merge_costs(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``cost`` sections of items: laws follow one another."""
    return _merged(sections, {"laws": []})


def merge_resources(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``resources`` sections of items: their lists of what was held follow one
    another.
    """
    return _merged(sections, {"held": []})


def merge_programs(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``programs`` sections of items: programs and steps are added."""
    return _merged(sections, {})


def merge_differences(
    sections: Iterable[Section], verdicts: Mapping[str, str]
) -> dict[str, int | dict[str, int]]:
    """Merge the ``differences`` sections of items.

    Differences that an item left to other families (``elsewhere``) are settled here. One is
    explained if a contract that may be behind it is found broken, or does not apply; otherwise it
    is unknown. So ``seen`` is the sum of ``shown``, ``explained`` and ``unknown``.
    """
    total = {"seen": 0, "shown": 0, "explained": 0, "unknown": 0}
    unsettled: dict[str, int] = {}
    for section in sections:
        for key in total:
            total[key] += section.get(key, 0)
        for left in section.get("elsewhere", ()):
            first, times = left["contracts"][0], left["times"]
            explained = settles(left, verdicts)
            total["seen"] += times
            total["explained" if explained else "unknown"] += times
            if not explained:
                unsettled[first] = unsettled.get(first, 0) + times
    return {**total, **({"unsettled": unsettled} if unsettled else {})}


def recoveries(trial: Section) -> list[float]:
    """Return the recovery times in milliseconds of one entry of ``trials_detail``."""
    return list(trial.get("recovery_ms", ()))


def percentile(figures: Sequence[float], percent: float) -> float:
    """Return the smallest of ``figures`` that ``percent`` of them do not exceed (nearest rank)."""
    rank = max(1, math.ceil(len(figures) * percent / 100))
    return sorted(figures)[rank - 1]


def _merged(sections: Iterable[Section], empty: dict[str, Any]) -> dict[str, Any]:
    merged = dict(empty)
    for section in sections:
        for key, value in section.items():
            if value is not None:
                merged[key] = _joined(merged.get(key), value)
    return merged


def _joined(one: Any, other: Any) -> Any:
    if one is None or type(one) is not type(other) or isinstance(other, str | bool):
        return other
    if isinstance(other, list):
        return [*one, *(item for item in other if item not in one or isinstance(item, Mapping))]
    if isinstance(other, Mapping):
        return {
            **one,
            **{key: _joined(one.get(key), value) for key, value in other.items()},
        }
    return one + other


def _worst(summaries: Sequence[Mapping[str, float]]) -> dict[str, float]:
    worst = {"p50": 0.0, "p99": 0.0}
    for summary in summaries:
        for name, value in summary.items():
            worst[name] = max(worst.get(name, 0.0), value)
    return worst
