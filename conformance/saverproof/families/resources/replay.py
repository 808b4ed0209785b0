"""Repeats a recorded kind of work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.items import ItemPlan
from saverproof.families.recorded import read_recorded
from saverproof.families.resources.holdings import KINDS
from saverproof.families.resources.judging import Exhaustion, leaks
from saverproof.families.resources.measuring import ResourceBench
from saverproof.families.resources.reporting import SAME_WORK, told
from saverproof.families.resources.work import WORKS
from saverproof.savers.targets.target import Target


def replay(plan: ItemPlan, target: Target, data: Any) -> ReplayAnswer:
    """Replay a recorded leak; answer whether it still shows.

    Raises:
        ValueError: the data is no recorded work; the one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    if isinstance(data, Mapping) and "done" in data:
        return _replay_exhaustion(plan, target, data)
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


def _replay_exhaustion(plan: ItemPlan, target: Target, data: Mapping[str, Any]) -> ReplayAnswer:
    name, done = str(data.get("work")), data["done"]
    if name not in WORKS:
        raise ValueError(f"work: found {name!r:.60}, expected one of {', '.join(WORKS)}")
    if type(done) is not int or done < 1:
        raise ValueError(f"done: found {done!r:.60}, expected a whole number above 0")
    measured = ResourceBench(plan, target).measure(WORKS[name], [done + 1])
    if not measured.trouble:
        return ReplayAnswer(Status.FIXED, f"the work was done {done + 1:,} times")
    if not measured.done_elsewhere or measured.done < measured.work.fewest_done:
        return unclear(measured.trouble)
    found = Exhaustion(measured.work, measured.done, measured.error)
    return ReplayAnswer(Status.FAILING, found.summary, SAME_WORK, measured.error)
