"""The laws by which the cost of operations grows with a store, and which of them got worse."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Law = Mapping[str, Any]
Judged = Mapping[str, Any]

ORDERS = ("constant", "logarithmic", "linear", "more than linear")
"""The orders of growth, from the slowest to the fastest."""
_STEEPER = 1.5
"""How many times as much as before each item has to cost for a law to be worse. Counts are the same
in each run of a release, so smaller changes are small changes of the saver.
"""


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
        key = question_of(law)
        if law["api"] == laws[0]["api"] and _rank(law) > _rank(telling.get(key)):
            telling[key] = law
    return list(telling.values())


def question_of(law: Law) -> tuple[str, str]:
    """Return what is asked, and what the store has more and more of."""
    return law["question"], law["item"]


def same_count(law: Law, laws: Iterable[Law]) -> Law | None:
    """Return the law of the same count among ``laws``, through any API; None if there is none."""
    wanted = (*question_of(law), law["witness"])
    return next((one for one in laws if (*question_of(one), one["witness"]) == wanted), None)


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
    return law["api"], *question_of(law), law["witness"]


def _is_worse(old: Law, new: Law) -> bool:
    if _rank(old) != _rank(new):
        return _rank(new) > _rank(old)
    return _rank(new) >= ORDERS.index("linear") and _slope(new) > _STEEPER * _slope(old)


def _slope(law: Law) -> float:
    sizes, counts = law["sizes"], law["counts"]
    return float((counts[-1] - counts[-2]) / (sizes[-1] - sizes[-2]))
