"""Says which contracts the growth of a saver's costs breaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from saverproof.families.cost.measuring import CostMeasurement
from saverproof.families.cost.questions import Question
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.laws import GrowthOrder, Law


@dataclass(frozen=True, slots=True)
class BrokenLaw:
    """A count that grows faster than a contract allows."""

    question: Question
    witness: str
    law: Law
    sizes: tuple[int, ...]
    """The sizes to which the store was grown; the law may have other sizes, which followed from
    these.
    """

    @property
    def summary(self) -> str:
        """The additional cost of each item, in one line."""
        return f"{self.question.words} {words(self.question, self.witness, self.law)}"

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: faster growth first, then the witness that stands first in ``WITNESSES``."""
        orders, names = list(GrowthOrder), list(WITNESSES)
        return -orders.index(self.law.order), names.index(self.witness)


def words(question: Question, witness: str, law: Law) -> str:
    """Return a law as the end of a sentence that begins with the question."""
    counted = WITNESSES[witness]
    match law.order:
        case GrowthOrder.CONSTANT:
            return f"{counted.words(law.last)}, whatever the size"
        case GrowthOrder.LOGARITHMIC:
            return f"{counted.words(law.last)}, more as an index grows"
        case GrowthOrder.LINEAR:
            return counted.words(law.per_item, f" more for each {question.item}")
    return counted.words(law.per_item, f" more for each {question.item}, and ever more")


def breaches(measurements: Iterable[CostMeasurement]) -> list[BrokenLaw]:
    """Return the broken laws, the worst first. Measurements that were cut short are left out."""
    found = [
        BrokenLaw(one.question, witness, law, tuple(one.sizes))
        for one in measurements
        if not one.trouble
        for witness, law in one.laws.items()
        if one.question.is_broken_by(witness, law)
    ]
    return sorted(found, key=lambda breach: breach.rank)


def doubts(measurements: Iterable[CostMeasurement]) -> list[str]:
    """Return, in words, the counts that grow in a small store and perhaps not in a large one. They
    keep a contract from being held.
    """
    return [
        f"{one.question.words} {words(one.question, witness, law)}; {_doubt(one, witness, law)}"
        for one in measurements
        for witness, law in one.laws.items()
        if one.question.is_doubted_by(witness, law)
    ]


def _doubt(measured: CostMeasurement, witness: str, law: Law) -> str:
    if measured.question.gives_back(witness, law):
        counts = table(measured.sizes, law.counts)
        return f"it gives space back at times, and may do so again in a larger store: {counts}"
    return "its planner chose so, and may choose otherwise in a larger store"


def table(sizes: Sequence[int], counts: Sequence[int]) -> str:
    """Return the counts at their sizes, in one line."""
    return "; ".join(f"{count:,} at {size:,}" for size, count in zip(sizes, counts, strict=True))
