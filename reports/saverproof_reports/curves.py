"""The curves of a chart: a count of one saver at several sizes, beside the same count of others.

Two savers are in every chart: the bundled one and LangGraph's own in memory. Their counts are
shipped in reference_laws.json, which ``python -m tests.docs.reference_laws`` writes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from saverproof_reports.laws import Judged, Law, question_of, same_count

MOST = 4
"""The number of curves of one chart for which there are colours; references beyond it are left
out.
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """The counts of one saver at several sizes."""

    name: str
    sizes: tuple[int, ...]
    counts: tuple[int, ...]


def curves(law: Law, judged: Judged, savers: Sequence[Judged]) -> list[Curve]:
    """Return the curve of a law, the curves of the same count of the report's other savers, and
    those of the reference savers that are not in the report.
    """
    own = _curve(judged["saver"]["name"], law)
    others = [
        _curve(other["saver"]["name"], same)
        for other in savers
        if other["saver"]["name"] != judged["saver"]["name"]
        and (same := same_count(law, other["cost"]["laws"] if "cost" in other else ())) is not None
    ]
    drawn = [own, *others]
    classes = {one["saver"].get("class") for one in savers}
    return [*drawn, *list(_references(law, classes))[: max(MOST - len(drawn), 0)]]


def _references(law: Law, without: set[str | None]) -> Iterator[Curve]:
    for reference in _shipped():
        if reference["class"] in without:
            continue
        same = same_count(law, reference["laws"])
        asked = [one for one in reference["laws"] if question_of(one) == question_of(law)]
        if same is not None:
            yield _curve(reference["name"], same)
        elif asked:
            # A count that is none at all sizes has no law.
            sizes = asked[0]["sizes"]
            yield Curve(reference["name"], tuple(sizes), (0,) * len(sizes))


@cache
def _shipped() -> Sequence[Mapping[str, Any]]:
    text = files("saverproof_reports").joinpath("reference_laws.json").read_text("utf-8")
    shipped: Sequence[Mapping[str, Any]] = json.loads(text)
    return shipped


def _curve(name: str, law: Law) -> Curve:
    return Curve(name, tuple(law["sizes"]), tuple(law["counts"]))
