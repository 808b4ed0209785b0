"""Repeats a recorded kind of work."""

from __future__ import annotations

from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.items import ItemPlan
from saverproof.families.recorded import read_recorded
from saverproof.families.resources.holdings import KINDS
from saverproof.families.resources.judging import leaks
from saverproof.families.resources.measuring import ResourceBench
from saverproof.families.resources.reporting import told
from saverproof.families.resources.work import WORKS
from saverproof.savers.targets.target import Target


def replay(plan: ItemPlan, target: Target, data: Any) -> ReplayAnswer:
    """Replay a recorded leak; answer whether it still shows.

    Raises:
        ValueError: the data is no recorded work; the one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    name, kind, times = read_recorded(data, {"work": WORKS, "kind": KINDS}, "times")
    measured = ResourceBench(plan, target).measure(WORKS[name], times)
    if measured.trouble:
        return unclear(measured.trouble)
    for leak in leaks([measured]):
        if leak.kind == kind:
            expected = f"as many {KINDS[kind].unit} at the end as after the first few times"
            return ReplayAnswer(Status.FAILING, leak.summary, expected, told(leak))
    return ReplayAnswer(
        Status.FIXED, f"no more {KINDS[kind].unit} at the end than after the first few times"
    )
