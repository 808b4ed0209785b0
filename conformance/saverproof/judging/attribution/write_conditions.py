"""Conditions of attribution rules about pending writes, after a batch was written."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.judging.attribution.rule import Case
from saverproof.judging.facts import WRITE_VALUE
from saverproof.judging.made_values import made_of
from saverproof.programs.model.records import ADDED, SPECIAL_INDEX, PendingWrite
from saverproof.programs.steps.definitions import PutWrites
from saverproof.programs.steps.identifiers import task_id
from saverproof.programs.values import same


def _batch(case: Case) -> PutWrites:
    assert isinstance(case.step, PutWrites)
    return case.step


def _stored(case: Case) -> dict[tuple[int, int], PendingWrite]:
    step = _batch(case)
    return case.model.writes.get((step.thread, step.namespace, step.number), {})


def _of_task(case: Case) -> Iterator[PendingWrite]:
    task = case.write.task if case.write else _batch(case).task
    return (other for other in _stored(case).values() if other.task == task)


def stored_already(case: Case) -> set[str]:
    """Return the channels of the batch whose place holds a stored write."""
    step, stored = _batch(case), _stored(case)
    return {
        channel
        for position, (channel, _) in enumerate(step.writes)
        if (step.task, SPECIAL_INDEX.get(channel, position)) in stored
    }


def regular_stored_already(case: Case) -> bool:
    """Return whether the place of one of the batch's regular writes holds a stored write."""
    return not stored_already(case) <= SPECIAL_INDEX.keys()


def batch_is_mixed(case: Case) -> bool:
    """Return whether the batch has regular writes."""
    return any(channel not in SPECIAL_INDEX for channel, _ in _batch(case).writes)


def of_the_task(case: Case) -> bool:
    """Return whether a write that should not be there belongs to the batch's task."""
    item = case.difference.item
    return isinstance(item, tuple) and bool(item[0] == task_id(_batch(case).task))


def of_the_batch(case: Case) -> bool:
    """Return whether a write that should not be there has the batch's task, and its channel and
    value.
    """
    step = _batch(case)
    task, channel, value = case.difference.item
    return bool(task == task_id(step.task)) and any(
        name == channel and same(made_of(given), value) for name, given in step.writes
    )


def is_known(case: Case) -> bool:
    """Return whether the difference is about a write that the model has."""
    return case.write is not None


def is_special(case: Case) -> bool:
    """Return whether the write is to a special channel."""
    return case.write is not None and case.write.index < 0


def _in_batch(case: Case, write: PendingWrite) -> bool:
    step = _batch(case)
    return write.task == step.task and any(
        SPECIAL_INDEX.get(channel, position) == write.index
        for position, (channel, _) in enumerate(step.writes)
    )


def is_stale(case: Case) -> bool:
    """Return whether a special write of the batch shows a value that was replaced, now or
    earlier.
    """
    write = case.write
    if write is None or case.kind is not WRITE_VALUE or not _in_batch(case, write):
        return False
    shown = case.difference.observed[2]
    return write.index < 0 and any(same(made_of(value), shown) for value in write.earlier)


def was_written(case: Case) -> bool:
    """Return whether the value shown is one that some write to this channel has or had."""
    _, channel, shown = case.difference.observed
    values = [value for name, value in _batch(case).writes if name == channel]
    for write in _stored(case).values():
        if write.channel == channel:
            values += [write.value, *write.earlier]
    return any(same(made_of(value), shown) for value in values)


def displaced(case: Case) -> bool:
    """Return whether a special and a regular write of the task share a position in their batches.

    Then one may have taken the other's place.
    """
    step, write = _batch(case), case.write
    if write is None or write.task != step.task:
        return False
    if not _in_batch(case, write):
        if write.index < 0 and any(name in SPECIAL_INDEX for name, _ in step.writes):
            return True
        if write.position >= len(step.writes):
            return False
        channel = step.writes[write.position][0]
        return (channel in SPECIAL_INDEX) != (write.index < 0)
    batch = {channel for channel, _ in step.writes}
    return any(
        other.position == write.position and (other.index < 0) != (write.index < 0)
        for other in _of_task(case)
    ) or any(
        other.index < 0 and write.index < 0 and other.channel not in batch
        for other in _of_task(case)
    )


def replaced_by_batch(case: Case) -> bool:
    """Return whether the batch replaced an earlier value of the write."""
    write = case.write
    return write is not None and bool(write.earlier) and _in_batch(case, write)


def of_another_task(case: Case) -> bool:
    """Return whether the write belongs to a task other than the batch's."""
    return case.write is not None and case.write.task != _batch(case).task


def was_added_to(case: Case) -> bool:
    """Return whether the task had regular writes before this batch."""
    write = case.write
    if write is None:
        return False
    # One regular write of the task with this mark is enough to know it.
    return not _in_batch(case, write) or any(
        other.index >= 0 and ADDED in other.marks for other in _of_task(case)
    )
