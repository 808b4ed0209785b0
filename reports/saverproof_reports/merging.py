"""Merge several reports into one, so that their savers stand side by side."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saverproof_reports.merge_runs import joined

Report = Mapping[str, Any]


def merged(reports: Sequence[Report]) -> dict[str, Any]:
    """Return one report with the savers of all of ``reports``, which must not be empty.

    It is complete if each of them is. Runs that judged different parts of the same savers count as
    one (see ``merge_runs``). Savers with one name get their version, profile or a number.
    """
    reports = joined(reports)
    if len(reports) == 1:
        return dict(reports[0])
    first = reports[0]
    return {
        "schema": first["schema"],
        "complete": all(report["complete"] for report in reports),
        "environment": {
            name: _joined(report["environment"][name] for report in reports)
            for name in ("python", "platform")
        }
        | {"packages": _packages(report["environment"]["packages"] for report in reports)},
        "run": {
            "profile": _joined(report["run"]["profile"] for report in reports),
            "seed": first["run"]["seed"],
            "started": min(report["run"]["started"] for report in reports),
            "duration_s": round(sum(report["run"]["duration_s"] for report in reports), 3),
            "workers": max(report["run"]["workers"] for report in reports),
        },
        "savers": _named_apart(reports),
    }


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _packages(every: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return every version of a package that some run had."""
    versions: dict[str, dict[str, None]] = {}
    for packages in every:
        for name, version in packages.items():
            versions.setdefault(name, {})[version] = None
    return {name: ", ".join(found) for name, found in versions.items()}


def _named_apart(reports: Sequence[Report]) -> list[dict[str, Any]]:
    pairs = [(report, judged) for report in reports for judged in report["savers"]]
    ways = (
        lambda report, judged: judged["saver"]["name"],
        lambda report, judged: f"{judged['saver']['name']} {judged['saver']['version'] or ''}",
        lambda report, judged: f"{judged['saver']['name']}, {report['run']['profile']}",
    )
    names = [""] * len(pairs)
    for way in ways:
        made = [str(way(*pair)).strip() for pair in pairs]
        times = Counter(made)
        names = [
            name or (candidate if times[candidate] == 1 else "")
            for name, candidate in zip(names, made, strict=True)
        ]
    numbers = Counter[str]()
    result = []
    for name, (_, judged) in zip(names, pairs, strict=True):
        own = str(judged["saver"]["name"])
        numbers[own] += 1
        saver = {**judged["saver"], "name": name or f"{own}, run {numbers[own]}"}
        result.append({**judged, "saver": saver})
    return result
