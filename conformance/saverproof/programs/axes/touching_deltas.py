"""Finds the points on the axes of delta channels that a step touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Touched
from saverproof.programs.axes.bounds import at_least
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import DeltaHistory, Put

_NEAR, _FAR = 2, 10
"""Depths in checkpoints: up to the first, a stored value is near a read; from the second, it is
far.
"""


def put(step: Put) -> Iterator[Touched]:
    """Yield the points of the axes that a put touches: delta snapshots or plain values."""
    for _, value in step.changes:
        if value is not None:
            yield table.SEED.at("a snapshot" if value.kind == "delta-snapshot" else "a plain value")


def delta_history(step: DeltaHistory, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that a read of delta histories touches."""
    if not step.channels:
        yield table.DELTA.at("no channels")
        return
    yield table.DELTA_PLACE.at("nested" if step.namespace else "root")
    history = model.history(step.thread, step.namespace)
    target = history.get(step.number or max(history, default=0))
    if target is None:
        return
    above = sum(number > target.step.number for number in history)
    yield table.ABOVE.at(
        at_least(above, (0, "0"), (1, "1 to 1,023"), (1_024, "1,024 and more")) or "0"
    )
    names = list(target.channels)
    deltas = [name for name in step.channels if _is_delta(target.channels.get(name))]
    if len(deltas) != 1:
        yield table.DELTA.at("several" if deltas else "none")
    else:
        if deltas[0] == names[0]:
            yield table.DELTA.at("the first")
        if deltas[0] == names[-1]:
            yield table.DELTA.at("the last")
    for name in deltas:
        depth, found, parent = 0, False, target.parent
        while parent in history and not found:
            depth += 1
            channel = history[parent].channels.get(name)
            found, parent = bool(channel and channel.value), history[parent].parent
        bounds = ((1, "1"), (2, "2 to 99"), (100, "100"), (1_100, "1,100"))
        if many := at_least(depth, *bounds):
            yield table.DEPTH.at(many)
        if not found:
            yield table.SNAPSHOT.at("none")
        elif depth <= _NEAR:
            yield table.SNAPSHOT.at("near")
        elif depth >= _FAR:
            yield table.SNAPSHOT.at("far")


def _is_delta(channel: Any) -> bool:
    return channel is not None and channel.value is None
