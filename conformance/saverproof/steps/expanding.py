"""Steps that stand for many others of the same kind, as those."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.steps.definitions import Put, PutHistory, Times
from saverproof.values import Value

RUN = "run-2"
"""The run that a history is of."""
MARK = {"user": "ann"}
"""The metadata of a marked checkpoint of a history, beside what the loop gives."""


def puts_of(step: PutHistory) -> Iterator[Put]:
    """The puts of a history, the oldest first."""
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
    """The metadata of one checkpoint of a history."""
    made: dict[str, object] = {"source": "loop", "step": number, "parents": {}, "run_id": RUN}
    return made | MARK if step.marked and number % step.marked == 0 else made


def clock_of(step: PutHistory, number: int) -> int | None:
    """The number of the checkpoint whose time this one of a history bears."""
    match step.times:
        case Times.EQUAL:
            return step.number
        case Times.FALLING:
            return 2 * step.number + step.count - 1 - number
        case _:
            return None
