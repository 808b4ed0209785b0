"""Measures a recorded cost again."""

from __future__ import annotations

from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.cost.judging import breaches, table, words
from saverproof.families.cost.measuring import CostBench
from saverproof.families.cost.questions import BY_NAME
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.items import ItemPlan
from saverproof.families.laws import law_of
from saverproof.families.recorded import read_recorded
from saverproof.savers.targets.target import Target


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Replay a recorded cost; answer whether its count still grows.

    Raises:
        ValueError: the data is no recorded cost; the one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    known = {"question": BY_NAME, "witness": WITNESSES}
    name, witness, sizes = read_recorded(data, known, "sizes")
    question = BY_NAME[name]
    bench = CostBench(plan, target)
    (measured,) = bench.measure(question.store, sizes, [question])
    if measured.trouble or measured.missing:
        return unclear(measured.trouble or measured.missing)
    if witness not in measured.counts:
        return unclear("; ".join(bench.missing) or f"nothing counts {WITNESSES[witness].unit} here")
    counts = measured.counts[witness]
    law = law_of(measured.extents, counts, WITNESSES[witness].slack)
    observed = f"{question.words} {words(question, witness, law)}"
    if any(breach.witness == witness for breach in breaches([measured])):
        expected = f"about as much at {law.sizes[-1]:,} as at {law.sizes[0]:,}"
        return ReplayAnswer(Status.FAILING, observed, expected, table(law.sizes, counts))
    return ReplayAnswer(Status.FIXED, observed)
