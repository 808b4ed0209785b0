"""Makes the program of a row about delta channels: values far or near, and a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.programs.axes import table
from saverproof.programs.axes.covering import Row
from saverproof.steps.definitions import (
    DeltaHistory,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Step,
    Times,
)
from saverproof.values import Value

THREAD, ROOT = "a", ""
_CHANNELS = ("log", "size", "count", "notes")
_ASKED = {"the first": ("log",), "the last": ("notes",), "several": ("notes", "log")}
_ALWAYS = "size"
"""A delta channel of every program: one that is neither the first nor the last."""
_BETWEEN = {"2 to 99": 20, "100": 110, "1,100": 1_110}
"""Checkpoints that are put between the root and the one that is asked about."""


def delta_program(row: Row) -> Program:
    """The program of a row: what it does not name is at its plainest."""
    return tuple(_steps(row))


def _steps(row: Row) -> Iterator[Step]:
    deltas = (*_ASKED.get(row[table.DELTA.name], ()), _ALWAYS)
    falling = row[table.TIMES.name] == "reversed"
    equal = row[table.TIMES.name] == "equal times"
    times = Times.FALLING if falling else Times.EQUAL if equal else Times.RISING
    valued = row[table.SNAPSHOT.name] != "none"
    root = _put(1, None, dict.fromkeys(_CHANNELS, 1), () if valued else deltas)
    yield root
    yield _batch(1, deltas)
    yield replace(_batch(1, deltas), task=0)
    newest = 1
    if between := _BETWEEN.get(row[table.DEPTH.name]):
        yield _put(2, 1, {"count": 2}, deltas)
        yield _batch(2, deltas)
        yield PutHistory(THREAD, ROOT, 3, between, 2, times=times)
        newest = between + 2
        yield _batch(newest // 2, deltas)
        if row[table.SNAPSHOT.name] == "near":
            yield _put(newest + 1, newest, dict.fromkeys(deltas, 9), ())
            yield _put(newest + 2, newest + 1, {"count": 3}, deltas)
            newest += 2
    yield from _asked(row, newest, deltas, falling=falling, equal=equal)


def _asked(
    row: Row, newest: int, deltas: tuple[str, ...], *, falling: bool, equal: bool
) -> Iterator[Step]:
    """The checkpoint that is asked about, its parent as the row has it, and the question."""
    number, clock = newest + 2, 0 if falling else newest if equal else None
    parent = newest
    match row[table.PARENT.name]:
        case "none":
            yield _put(number + 1, None, {"count": 5}, deltas, clock)
        case "an older one":
            yield _put(newest + 1, None, {"count": 5}, deltas, clock)
        case "one that has a child":
            yield _put(newest + 1, newest, {"count": 5}, deltas, clock)
        case "one with a higher id":
            parent = number + 3
            if newest == 1:
                dropped = deltas if row[table.SNAPSHOT.name] == "none" else ()
                yield _put(parent, None, dict.fromkeys(_CHANNELS, 7), dropped, clock)
            else:
                yield _put(parent, newest, {"count": 5}, deltas, clock)
    yield _batch(parent, deltas)
    yield _put(number, parent, {"count": 6}, deltas, clock)
    yield _batch(number, deltas)
    asked = _ASKED.get(row[table.DELTA.name], ())
    yield DeltaHistory(THREAD, ROOT, number, (*asked, "count"))
    yield DeltaHistory(THREAD, ROOT, number, (_ALWAYS,))
    yield DeltaHistory(THREAD, ROOT, None, _CHANNELS[:3])


def _put(
    number: int,
    parent: int | None,
    values: dict[str, int],
    deltas: tuple[str, ...],
    clock: int | None = None,
) -> Put:
    """A checkpoint in which the delta channels have no value of their own."""
    changes = {name: Value("integer", 100 * seed + number) for name, seed in values.items()}
    dropped = dict.fromkeys(deltas)
    counters = {"counters_since_delta_snapshot": {name: [1, 1] for name in deltas}}
    metadata = {"source": "loop", "step": number, "parents": {}} | (counters if deltas else {})
    made = tuple((changes | dropped).items())
    return Put(THREAD, ROOT, number, parent, changes=made, metadata=metadata, clock=clock)


def _batch(number: int, deltas: tuple[str, ...]) -> PutWrites:
    writes = tuple((name, Value("integer", number)) for name in (*deltas, "count"))
    return PutWrites(THREAD, ROOT, number, 1, writes)
