"""Has a recorded work done again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.resources.holdings import KINDS
from saverproof.families.resources.judging import leaks
from saverproof.families.resources.measuring import Bench
from saverproof.families.resources.reporting import told
from saverproof.families.resources.work import WORKS, Work
from saverproof.items import ItemPlan
from saverproof.targets.target import Target

_KEYS = ("work", "kind", "times")


def replay(plan: ItemPlan, target: Target, data: Any) -> ReplayAnswer:
    """Whether what was recorded still stays.

    Raises:
        ValueError: the data is no recorded work; the one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    work, kind, times = _read(data)
    measured = Bench(plan, target).measure(work, times)
    if measured.trouble:
        return unclear(measured.trouble)
    for leak in leaks([measured]):
        if leak.kind == kind:
            expected = f"as many {KINDS[kind].unit} at the end as after the first times"
            return ReplayAnswer(Status.FAILING, leak.summary, expected, told(leak))
    return ReplayAnswer(Status.FIXED, f"no more {KINDS[kind].unit} than after the first times")


def _read(data: object) -> tuple[type[Work], str, list[int]]:
    """The work of a finding's ``program``, what stayed, and how often it was done."""
    if not isinstance(data, Mapping) or any(key not in data for key in _KEYS):
        raise ValueError(f"found {data!r:.60}, expected an object with {', '.join(_KEYS)}")
    for key, known in (("work", WORKS), ("kind", KINDS)):
        if data[key] not in known:
            raise ValueError(f"{key}: found {data[key]!r:.60}, expected one of {', '.join(known)}")
    times = data["times"]
    whole = isinstance(times, list) and all(type(count) is int and count > 0 for count in times)
    if not whole or len(times) < 3 or sorted(set(times)) != times:
        raise ValueError(
            f"times: found {times!r:.60}, expected three or more whole numbers, rising"
        )
    return WORKS[data["work"]], data["kind"], times
