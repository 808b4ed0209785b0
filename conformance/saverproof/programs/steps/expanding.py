"""Expands steps that stand for many others of the same kind."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.programs.steps.definitions import Put, PutHistory, Times
from saverproof.programs.values import Value

RUN = "run-2"
"""The run id of the checkpoints of a history."""
MARK = {"user": "ann"}
"""The metadata that marks a checkpoint of a history, beside the loop's."""


def puts_of(step: PutHistory) -> Iterator[Put]:
    """Yield the puts that a history stands for, the oldest first."""
    parent = step.parent
    for number in range(step.number, step.number + step.count):
        yield Put(
            step.thread,
            step.namespace,
            number,
            parent,
            changes=(("count", Value("integer", number)),),
            metadata=metadata_of(step, number),
            clock=clock_of(step, number),
        )
        parent = number


def metadata_of(step: PutHistory, number: int) -> dict[str, object]:
    """Return the metadata of one checkpoint of a history."""
    made: dict[str, object] = {"source": "loop", "step": number, "parents": {}, "run_id": RUN}
    return made | MARK if step.marked and number % step.marked == 0 else made


def clock_of(step: PutHistory, number: int) -> int | None:
    """Return the number of the checkpoint whose time this one has; None for its own time."""
    match step.times:
        case Times.EQUAL:
            return step.number
        case Times.FALLING:
            return 2 * step.number + step.count - 1 - number
        case _:
            return None
