"""The laws by which the cost of operations grows with a store, and which of them got worse."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Law = Mapping[str, Any]
Judged = Mapping[str, Any]

ORDERS = ("constant", "logarithmic", "linear", "more than linear")
"""The orders of growth, from the slowest to the fastest."""
_STEEPER = 1.5
"""Times as much for each item from which on a law is worse. Counts are the same in each run of a
release, so smaller changes are small changes of the saver.
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """The counts of one saver at several sizes."""

    name: str
    sizes: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WorseLaw:
    """A question whose answer costs more than before; ``old`` and ``new`` are laws in words."""

    what: str
    old: str
    new: str


def telling_laws(judged: Judged) -> list[Law]:
    """Return for each question the law of its fastest growing count, through the API judged
    first.
    """
    laws = judged.get("cost", {}).get("laws", [])
    telling: dict[tuple[str, str], Law] = {}
    for law in laws:
        key = (law["question"], law["item"])
        if law["api"] == laws[0]["api"] and _rank(law) > _rank(telling.get(key)):
            telling[key] = law
    return list(telling.values())


def curves(law: Law, judged: Judged, savers: Sequence[Judged]) -> list[Curve]:
    """Return the curve of a law, and those of the same count for the other savers in the report."""
    own = _curve(judged, law)
    others = [
        _curve(other, same)
        for other in savers
        if other["saver"]["name"] != judged["saver"]["name"]
        and (same := _same(law, other)) is not None
    ]
    return [own, *others]


def worse_laws(old: Judged, new: Judged) -> Iterator[WorseLaw]:
    """Yield the laws that are worse in ``new``: they grow faster, or as fast with more for each
    item.
    """
    before = {_key(law): law for law in old.get("cost", {}).get("laws", [])}
    for law in new.get("cost", {}).get("laws", []):
        known = before.get(_key(law))
        if known is not None and _is_worse(known, law):
            what = f"{law['question']} ({law['api']})"
            yield WorseLaw(what, known["law"], law["law"])


def _rank(law: Law | None) -> int:
    return -1 if law is None else ORDERS.index(law["order"])


def _key(law: Law) -> tuple[str, ...]:
    return law["api"], law["question"], law["item"], law["witness"]


def _is_worse(old: Law, new: Law) -> bool:
    if _rank(old) != _rank(new):
        return _rank(new) > _rank(old)
    return _rank(new) >= ORDERS.index("linear") and _slope(new) > _STEEPER * _slope(old)


def _slope(law: Law) -> float:
    sizes, counts = law["sizes"], law["counts"]
    return float((counts[-1] - counts[-2]) / (sizes[-1] - sizes[-2]))


def _same(law: Law, judged: Judged) -> Law | None:
    """Return the law of the same count for another saver, through any API; None if there is
    none.
    """
    found = (
        other
        for other in judged.get("cost", {}).get("laws", [])
        if _key(other)[1:] == _key(law)[1:]
    )
    return next(found, None)


def _curve(judged: Judged, law: Law) -> Curve:
    return Curve(judged["saver"]["name"], tuple(law["sizes"]), tuple(law["counts"]))
