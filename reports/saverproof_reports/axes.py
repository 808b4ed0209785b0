"""The points of programs' axes that a run touched, and the pairs of points that met."""

from collections.abc import Iterable, Mapping
from typing import Any

Section = Mapping[str, Any]


def merge_axes(sections: Iterable[Section]) -> dict[str, Any]:
    """Merge the ``axes`` sections of items: counts are added.

    An entry on what was left out appears once.
    """
    axes: dict[str, dict[str, Any]] = {}
    untouched: list[Any] = []
    pairs: dict[str, Any] = {"of": 0, "covered": 0, "missing": [], "left_out": []}
    for section in sections:
        for given in section["points"]:
            axis = axes.setdefault(given["axis"], {"contracts": set(), "touched": {}})
            axis["contracts"].update(given["contracts"])
            for point, times in given["touched"].items():
                axis["touched"][point] = axis["touched"].get(point, 0) + times
        untouched += [one for one in section["untouched"] if one not in untouched]
        for key in ("of", "covered"):
            pairs[key] += section["pairs"][key]
        for key in ("missing", "left_out"):
            pairs[key] += [one for one in section["pairs"][key] if one not in pairs[key]]
    points = [
        {"axis": name, "contracts": sorted(axis["contracts"]), "touched": axis["touched"]}
        for name, axis in axes.items()
    ]
    return {"points": points, "untouched": untouched, "pairs": pairs}


def axes_phrase(judged: Section) -> str:
    """Describe how much of the axes was touched; "" if no programs were crossed."""
    axes = judged.get("axes")
    if not axes or not axes["points"]:
        return ""
    pairs = axes["pairs"]
    said = (
        f"{len(axes['points'])} axes of programs: {pairs['covered']:,} of {pairs['of']:,} pairs of "
        "points brought together"
    )
    if pairs["left_out"]:
        said += f", {len(pairs['left_out']):,} left out"
    gaps = "; ".join(
        f"{one['axis']}: {one['point']} ({one['family']}: {one['why']})"
        for one in axes["untouched"]
    )
    return f"{said}; not touched: {gaps}" if gaps else said
