"""What the rules ask about pending writes after a batch was written."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.judging.attribution.rule import Case
from saverproof.judging.facts import WRITE_VALUE
from saverproof.judging.made_values import made_of
from saverproof.model.records import ADDED, SPECIAL_INDEX, PendingWrite
from saverproof.steps.definitions import PutWrites
from saverproof.steps.identifiers import task_id
from saverproof.values import same


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
    """The channels of a batch for which something is stored already."""
    step, stored = _batch(case), _stored(case)
    return {
        channel
        for position, (channel, _) in enumerate(step.writes)
        if (step.task, SPECIAL_INDEX.get(channel, position)) in stored
    }


def regular_stored_already(case: Case) -> bool:
    """Whether something is stored already for a regular write of a batch."""
    return not stored_already(case) <= SPECIAL_INDEX.keys()


def batch_is_mixed(case: Case) -> bool:
    """Whether a batch has regular writes."""
    return any(channel not in SPECIAL_INDEX for channel, _ in _batch(case).writes)


def of_the_task(case: Case) -> bool:
    """Whether a write that should not be there is of the batch's task."""
    item = case.difference.item
    return isinstance(item, tuple) and bool(item[0] == task_id(_batch(case).task))


def of_the_batch(case: Case) -> bool:
    """Whether a write that should not be there is one that the batch just brought."""
    step = _batch(case)
    task, channel, value = case.difference.item
    return bool(task == task_id(step.task)) and any(
        name == channel and same(made_of(given), value) for name, given in step.writes
    )


def is_known(case: Case) -> bool:
    """Whether the difference is about a write that the model has."""
    return case.write is not None


def is_special(case: Case) -> bool:
    """Whether the write is to a special channel."""
    return case.write is not None and case.write.index < 0


def _in_batch(case: Case, write: PendingWrite) -> bool:
    step = _batch(case)
    return write.task == step.task and any(
        SPECIAL_INDEX.get(channel, position) == write.index
        for position, (channel, _) in enumerate(step.writes)
    )


def is_stale(case: Case) -> bool:
    """Whether a special write of the batch shows a value that was to be replaced, now or before."""
    write = case.write
    if write is None or case.kind is not WRITE_VALUE or not _in_batch(case, write):
        return False
    shown = case.difference.observed[2]
    return write.index < 0 and any(same(made_of(value), shown) for value in write.earlier)


def was_written(case: Case) -> bool:
    """Whether the value that a write shows is one that some write of its channel has."""
    _, channel, shown = case.difference.observed
    values = [value for name, value in _batch(case).writes if name == channel]
    for write in _stored(case).values():
        if write.channel == channel:
            values += [write.value, *write.earlier]
    return any(same(made_of(value), shown) for value in values)


def displaced(case: Case) -> bool:
    """Whether a special and a regular write of the task met at one place of their batches."""
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
    """Whether the batch replaced what was stored for the write."""
    write = case.write
    return write is not None and bool(write.earlier) and _in_batch(case, write)


def of_another_task(case: Case) -> bool:
    """Whether the write is not of the batch's task."""
    return case.write is not None and case.write.task != _batch(case).task


def was_added_to(case: Case) -> bool:
    """Whether the task had regular writes before this batch."""
    write = case.write
    if write is None:
        return False
    # One mark on any regular write of the task is enough: the batch was added to others.
    return not _in_batch(case, write) or any(
        other.index >= 0 and ADDED in other.marks for other in _of_task(case)
    )
