"""Takes the step that asks for channel versions, each of which must be above the one before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.looks import OwnAnswer
from saverproof.programs.steps.definitions import NextVersions
from saverproof.scripts.complaints import complain, guarded
from saverproof.scripts.writer import ScriptWriter

_HOUR_S = 3_600


def take_next_versions(step: NextVersions, context: Context) -> None:
    """Ask for several versions in a row, and judge that each is greater than the one before."""
    versions: list[Any] = []
    for number in range(step.count):
        current = versions[-1] if versions else None
        with _set_back(by_s=_HOUR_S if step.clock_goes_back and number >= step.count // 2 else 0):
            version = context.attempt(partial(context.next_version, current))
        if isinstance(version, Raised):
            context.facts.differ(facts.VERSION_RAISED, None, "a version", version, look=_ROW)
            return
        above = current if versions else _empty_of(version)
        if not _greater(version, above):
            context.facts.differ(facts.VERSION, None, f"above {above!r}", version, look=_ROW)
            return
        context.facts.agree(facts.VERSION)
        versions.append(version)


def _show_row(writer: ScriptWriter, step: NextVersions, difference: Difference) -> None:
    """Write a check that versions made in a row increase."""
    back = [
        f"    if number == {step.count // 2}:",
        "        now = time.time",
        f"        time.time = lambda: now() - {_HOUR_S}",
    ]
    lines = [
        "versions = [saver.get_next_version(None, None)]",
        f"for {'number' if step.clock_goes_back else '_'} in range({step.count - 1}):",
        *(back if step.clock_goes_back else ()),
        "    versions.append(saver.get_next_version(versions[-1], None))",
        "pairs = pairwise([type(versions[0])(), *versions])",
        "observed = [pair for pair in pairs if not pair[0] < pair[1]]",
        "expected = []",
    ]
    guarded(writer, lines, "versions that increase", getattr(difference.observed, "error", None))
    complain(writer, "observed != expected")


_ROW = OwnAnswer(_show_row)


@contextmanager
def _set_back(by_s: int) -> Iterator[None]:
    """Set the clock that Python code reads back by so many seconds, within the block."""
    if not by_s:
        yield
        return
    seconds, nanoseconds = time.time, time.time_ns

    def earlier() -> float:
        return seconds() - by_s

    def earlier_ns() -> int:
        return nanoseconds() - by_s * 10**9

    with mock.patch.object(time, "time", earlier), mock.patch.object(time, "time_ns", earlier_ns):
        yield


def _empty_of(version: Any) -> Any:
    """Return what LangGraph takes as the version of a channel that has none.

    It is the empty value of the versions' type.
    """
    return type(version)()


def _greater(version: Any, than: Any) -> bool:
    try:
        return bool(version > than) and isinstance(version, (str, int, float))
    except TypeError:
        return False
