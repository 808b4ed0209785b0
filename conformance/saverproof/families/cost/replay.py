"""Measures a recorded cost again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.cost.judging import breaches, table, words
from saverproof.families.cost.measuring import Bench
from saverproof.families.cost.questions import BY_NAME, Question
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.laws import law_of
from saverproof.items import ItemPlan
from saverproof.targets.target import Target

_KEYS = ("question", "witness", "sizes")


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Whether the recorded count still grows.

    Raises:
        ValueError: the data is no recorded cost; the one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    question, witness, sizes = _read(data)
    bench = Bench(plan, target)
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


def _read(data: object) -> tuple[Question, str, list[int]]:
    """The question of a finding's ``program``, what was counted, and at which sizes."""
    if not isinstance(data, Mapping) or any(key not in data for key in _KEYS):
        raise ValueError(f"found {data!r:.60}, expected an object with {', '.join(_KEYS)}")
    for key, known in (("question", BY_NAME), ("witness", WITNESSES)):
        if data[key] not in known:
            raise ValueError(f"{key}: found {data[key]!r:.60}, expected one of {', '.join(known)}")
    sizes = data["sizes"]
    rising = isinstance(sizes, list) and all(type(size) is int and size > 0 for size in sizes)
    if not rising or len(sizes) < 3 or sorted(set(sizes)) != sizes:
        raise ValueError(
            f"sizes: found {sizes!r:.60}, expected three or more whole numbers, rising"
        )
    return BY_NAME[data["question"]], data["witness"], sizes
