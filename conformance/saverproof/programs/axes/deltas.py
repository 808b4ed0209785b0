"""Builds the program of a row about delta channels: values near or far, and history reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.programs.axes import table
from saverproof.programs.axes.covering import Row
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
    Times,
)
from saverproof.programs.values import Value

THREAD, COPY, ROOT = "a", "copy", ""
_CHANNELS = ("log", "size", "count", "notes")
_ASKED = {"the first": ("log",), "the last": ("notes",), "several": ("notes", "log")}
_ALWAYS = "size"
"""A delta channel that every program has, and that is neither the first nor the last."""
_BETWEEN = {"2 to 99": 20, "100": 110, "1,100": 1_110}
"""The number of checkpoints between the root and the one whose history is read."""
_TIMES = {"reversed": Times.FALLING, "equal times": Times.EQUAL}
_PATH = "~__pregel_pull, tools"
_FIRST_RUN, _RUN = "run-1", "run-2"


def delta_program(row: Row) -> Program:
    """Return the program of a row about delta channels."""
    return tuple(_RowOfDeltas(row).steps())


class _RowOfDeltas:
    """A program under construction: a history, reads, then changes with the same reads after
    them.
    """

    def __init__(self, row: Row) -> None:
        self.row = row
        self.namespace = "child" if row[table.DELTA_PLACE.name] == "nested" else ROOT
        self.asked = _ASKED.get(row[table.DELTA.name], ())
        self.deltas = (*self.asked, _ALWAYS)
        self.times = _TIMES.get(row[table.TIMES.name], Times.RISING)

    def steps(self) -> Iterator[Step]:
        """Yield all steps of the program."""
        yield self._put(1, None, dict.fromkeys(_CHANNELS, 1), self._dropped_at_first(), None)
        yield self._batch(1)
        yield replace(self._batch(1), task=0)
        newest = 1
        if between := _BETWEEN.get(self.row[table.DEPTH.name]):
            yield self._put(2, 1, {"count": 2}, self.deltas)
            yield self._batch(2)
            history = PutHistory(THREAD, self.namespace, 3, between, 2, times=self.times)
            yield history
            newest = between + 2
            yield self._batch(newest // 2)
            if self.row[table.SNAPSHOT.name] == "near":
                yield self._put(newest + 1, newest, dict.fromkeys(self.deltas, 9), ())
                yield self._put(newest + 2, newest + 1, {"count": 3}, self.deltas)
                newest += 2
        yield from self._target(newest)

    def _dropped_at_first(self) -> tuple[str, ...]:
        return self.deltas if self.row[table.SNAPSHOT.name] == "none" else ()

    def _target(self, newest: int) -> Iterator[Step]:
        """Yield the checkpoint whose history is read, with the row's parent, and the reads."""
        number, parent = newest + 2, newest
        clock = {Times.FALLING: 0, Times.EQUAL: newest}.get(self.times)
        five = {"count": 5}
        match self.row[table.PARENT.name]:
            case "none":
                yield self._put(number + 1, None, five, self.deltas, clock)
            case "an older one":
                yield self._put(newest + 1, None, five, self.deltas, clock)
            case "one that has a child":
                yield self._put(newest + 1, newest, five, self.deltas, clock)
            case "one with a higher id":
                parent = number + 3
                if newest == 1:
                    values = dict.fromkeys(_CHANNELS, 7)
                    yield self._put(parent, None, values, self._dropped_at_first(), clock)
                else:
                    yield self._put(parent, newest, five, self.deltas, clock)
        yield self._batch(parent)
        target = self._put(number, parent, {"count": 6}, self.deltas, clock)
        yield target
        yield self._batch(number)
        yield self._question(number, (*self.asked, "count"))
        yield self._question(number)
        yield self._question(None, _CHANNELS[:3])
        if self.row[table.DELTA.name] == "no channels":
            yield self._question(number, ())
        yield from self._changed(target)

    def _changed(self, target: Put) -> Iterator[Step]:
        """Yield a late write and the row's removal, each followed by the same reads."""
        number, parent = target.number, target.parent
        assert parent is not None
        # By its path, this batch comes last; by its id, it comes before the earlier task's.
        yield replace(self._batch(parent), task=2, path=_PATH)
        yield self._question(number)
        # A saver that removes and copies nothing has no point on this axis.
        match self.row.get(table.REMOVAL.name):
            case None:
                return
            case "copy_thread":
                yield CopyThread(THREAD, COPY)
                yield replace(self._question(number), thread=COPY)
                yield replace(self._batch(parent), thread=COPY, task=3)
                yield replace(self._question(number), thread=COPY)
            case "delete_for_runs":
                yield DeleteForRuns((_FIRST_RUN,))
            case "prune to the latest":
                yield Prune((THREAD,), "keep_latest")
            case "prune of all":
                yield Prune((THREAD,), "delete")
            case _:
                yield DeleteThread(THREAD)
                # The same ids are put again, but no longer as parent and child.
                yield replace(target, parent=None)
                yield self._put(parent, None, {"count": 8}, self.deltas)
                yield self._batch(parent)
        yield self._question(number)
        yield self._question(None)

    def _put(
        self,
        number: int,
        parent: int | None,
        values: dict[str, int],
        dropped: tuple[str, ...],
        clock: int | None = None,
    ) -> Put:
        """Return a checkpoint that stores no value of the ``dropped`` delta channels."""
        changes: dict[str, Value | None] = {
            name: self._value(name, 100 * seed + number) for name, seed in values.items()
        }
        counters = {"counters_since_delta_snapshot": {name: [1, 1] for name in dropped}}
        metadata = {"source": "loop", "step": number, "parents": {}}
        metadata |= {"run_id": _FIRST_RUN if number == 1 else _RUN}
        made = tuple((changes | dict.fromkeys(dropped)).items())
        metadata |= counters if dropped else {}
        return Put(THREAD, self.namespace, number, parent, made, metadata=metadata, clock=clock)

    def _value(self, name: str, seed: int) -> Value:
        snapshot = name != "count" and self.row[table.SEED.name] == "a snapshot"
        return Value("delta-snapshot" if snapshot else "integer", seed)

    def _batch(self, number: int) -> PutWrites:
        # A task writes twice to one channel. Both come before the next task's, at any index.
        writes = tuple(
            (name, Value("integer", number + again))
            for again, names in enumerate(((*self.deltas, "count"), (_ALWAYS,)))
            for name in names
        )
        return PutWrites(THREAD, self.namespace, number, 1, writes)

    def _question(self, number: int | None, channels: tuple[str, ...] = (_ALWAYS,)) -> DeltaHistory:
        return DeltaHistory(THREAD, self.namespace, number, channels)
