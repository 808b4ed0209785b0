"""Settles which contract a difference breaks, from the step that brought it about."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from saverproof.execution.versions import NoVersionError
from saverproof.judging.expected import expected_of
from saverproof.judging.sheet import Difference
from saverproof.model.records import SPECIAL_INDEX, PendingWrite
from saverproof.model.store import Model
from saverproof.programs.renaming import threads
from saverproof.steps.definitions import (
    AbandonList,
    Bulk,
    Clone,
    CloseAgain,
    CloseClone,
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DropClone,
    Elsewhere,
    Prune,
    Put,
    PutWrites,
    RefuseValue,
    Reopen,
    SetUp,
    Step,
)
from saverproof.steps.identifiers import task_id
from saverproof.values import same

HISTORY = "channels/history-immutable"
COPIED = "deletion/copy-complete"
REMOVED_BY = {
    "delete_thread": "deletion/thread-all",
    "delete_for_runs": "deletion/runs",
    "prune": "deletion/prune-latest",
}
"""What a checkpoint that is still shown breaks, by the operation that was to remove it."""
RETURNED_AFTER = REMOVED_BY | {"delete_thread": "deletion/no-ghosts"}
"""What something breaks that was gone, and is back after a later put."""
WHOLE_STEP: dict[type[Step], str] = {
    DeleteThread: "deletion/thread-all",
    DeleteForRuns: "deletion/runs",
    Prune: "deletion/prune-latest",
    Reopen: "lifecycle/reopen",
    SetUp: "lifecycle/setup-idempotent",
    CloseAgain: "lifecycle/close-idempotent",
    AbandonList: "lifecycle/abandoned-list",
    Clone: "lifecycle/shallow-clone",
    DropClone: "lifecycle/shallow-clone",
    CloseClone: "lifecycle/shallow-clone",
    Elsewhere: "isolation/workspaces",
    RefuseValue: "serialization/unserializable-is-refused",
    Bulk: "serialization/large",
}
"""Steps after which nothing else may differ: any difference is theirs."""


def blame(difference: Difference, step: Step, model: Model) -> str:
    """The contract that a difference breaks, given the step after which it was first seen."""
    if isinstance(getattr(difference.observed, "error", None), NoVersionError):
        return "channels/versions-increase"
    if difference.settled or difference.fact == "raised":
        return difference.contract
    if _on_the_other_side(difference, step, model):
        return "deletion/copy-independent"
    return after(step, difference, model)


def _on_the_other_side(difference: Difference, step: Step, model: Model) -> bool:
    """Whether a thread differs that the step did not touch, and that is a copy of one it did."""
    if difference.address is None or isinstance(step, CopyThread):
        return False
    touched, other = threads(step), difference.address[0]
    return other not in touched and any(frozenset((other, t)) in model.copies for t in touched)


@singledispatch
def after(step: Step, difference: Difference, model: Model) -> str:
    """The contract to blame for a difference seen after ``step``."""
    if type(step) in WHOLE_STEP:
        return WHOLE_STEP[type(step)]
    return _by_itself(difference, model)


def _by_itself(difference: Difference, model: Model) -> str:
    if difference.fact == "extra" and difference.address in model.gone:
        return REMOVED_BY.get(model.gone[difference.address], difference.contract)
    return difference.contract


def _returned(difference: Difference, model: Model) -> str | None:
    """The contract that is broken if what differs was removed before, and is back now."""
    if difference.address is None:
        return None
    if difference.fact == "extra":
        return RETURNED_AFTER.get(model.gone.get(difference.address, ""))
    record = model.record(difference.address)
    shown_but_not_put = not difference.expected and difference.fact.startswith("value:")
    if (
        record is None
        or record.puts > 1
        or not (shown_but_not_put or difference.fact in ("write:extra", "write:twice"))
    ):
        return None
    return RETURNED_AFTER.get(record.before or "")


@after.register
def _(step: CopyThread, difference: Difference, model: Model) -> str:
    on_copy = difference.address is not None and difference.address[0] == step.target
    if on_copy and (returned := _returned(difference, model)):
        return returned
    return COPIED if on_copy else "deletion/copy-independent"


@after.register
def _(step: Put, difference: Difference, model: Model) -> str:
    place = (step.thread, step.namespace, step.number)
    if difference.address is None:
        return difference.contract
    elsewhere = difference.address != place
    put_apart = elsewhere and difference.fact.startswith("value:")
    if not put_apart and (returned := _returned(difference, model)):
        return returned
    if elsewhere:
        return _elsewhere(place, difference, model, writing=False)
    if difference.fact in ("write:extra", "write:foreign"):
        return "pending-writes/scoped"
    record = model.record(place)
    if record is not None and record.puts > 1:
        if difference.fact.startswith("write"):
            return "upsert/reput-keeps-writes"
        again = "upsert/put-is-idempotent" in record.last_marks
        return "upsert/put-is-idempotent" if again else "upsert/put-replaces"
    if difference.write is not None and COPIED in difference.write.marks:
        return COPIED
    return difference.contract


def _elsewhere(
    place: tuple[str, str, int], difference: Difference, model: Model, *, writing: bool
) -> str:
    assert difference.address is not None
    thread, namespace, _ = difference.address
    if difference.fact == "write:foreign":
        return "pending-writes/scoped"
    if difference.fact.startswith("write") and writing:
        return "pending-writes/scoped"
    if thread != place[0]:
        return "isolation/threads"
    if namespace != place[1]:
        return "isolation/namespaces"
    if difference.fact.startswith("write"):
        return "pending-writes/complete"
    if difference.fact == "extra":
        return _by_itself(difference, model)
    return HISTORY


@after.register
def _(step: PutWrites, difference: Difference, model: Model) -> str:
    place = (step.thread, step.namespace, step.number)
    if difference.address is None:
        return difference.contract
    if difference.fact == "extra" and (returned := _returned(difference, model)):
        return returned
    if difference.address != place:
        return _elsewhere(place, difference, model, writing=True)
    if not difference.fact.startswith("write"):
        return HISTORY
    write = difference.write
    if difference.fact == "write:extra":
        return _accepted(step, difference)
    if difference.fact == "write:foreign":
        own = _of_batch(step, difference.item)
        return "upsert/regular-write-first-wins" if own else difference.contract
    if write is None:
        return difference.contract
    if difference.fact == "write:twice":
        return _replacing(write) if write.index < 0 else "upsert/regular-write-first-wins"
    return _lost_or_changed(step, difference, write, model)


def _of_batch(step: PutWrites, item: Any) -> bool:
    """Whether a shown write is one that the batch just brought."""
    task, channel, value = item
    return bool(task == task_id(step.task)) and any(
        name == channel and same(expected_of(given), value) for name, given in step.writes
    )


def _accepted(step: PutWrites, difference: Difference) -> str:
    """A write is there that should not be: one of the batch, whose place was taken, or another."""
    task = difference.item[0] if isinstance(difference.item, tuple) else None
    if task == task_id(step.task):
        return "upsert/regular-write-first-wins"
    return difference.contract


def _lost_or_changed(
    step: PutWrites, difference: Difference, write: PendingWrite, model: Model
) -> str:
    """A write of the batch's own checkpoint is missing, or shows another value."""
    in_batch = write.task == step.task and any(
        SPECIAL_INDEX.get(channel, position) == write.index
        for position, (channel, _) in enumerate(step.writes)
    )
    if in_batch and _is_stale(difference, write):
        return _replacing(write)
    if difference.fact == "write:value" and not _was_written(difference, step, model):
        return difference.contract
    if _displaced(step, write, in_batch, model):
        return "pending-writes/special-index"
    if write.index < 0:
        return _replacing(write) if in_batch and write.replaced else difference.contract
    if write.task != step.task:
        return "pending-writes/complete"
    retried = in_batch and "upsert/regular-write-first-wins" in write.marks
    if retried or not in_batch or _had_earlier(step, write, model):
        return "upsert/regular-write-first-wins"
    return difference.contract


def _is_stale(difference: Difference, write: PendingWrite) -> bool:
    """Whether a special write shows the very value that it was to replace."""
    if write.index >= 0 or write.replaced is None or difference.fact != "write:value":
        return False
    return same(expected_of(write.replaced), difference.observed[2])


def _was_written(difference: Difference, step: PutWrites, model: Model) -> bool:
    """Whether the value that a write shows is one that some write of its channel has."""
    _, channel, shown = difference.observed
    stored = model.writes.get((step.thread, step.namespace, step.number), {}).values()
    values = [value for name, value in step.writes if name == channel]
    for write in stored:
        if write.channel == channel:
            values += [value for value in (write.value, write.replaced) if value is not None]
    return any(same(expected_of(value), shown) for value in values)


def _replacing(write: PendingWrite) -> str:
    mixed = "upsert/special-write-last-wins-mixed"
    return mixed if write.mixed else "upsert/special-write-last-wins"


def _displaced(step: PutWrites, write: PendingWrite, in_batch: bool, model: Model) -> bool:
    """Whether a special and a regular write of the task met at one place of their batches."""
    if write.task != step.task:
        return False
    if not in_batch:
        if write.index < 0 and any(name in SPECIAL_INDEX for name, _ in step.writes):
            return True
        if write.position >= len(step.writes):
            return False
        channel = step.writes[write.position][0]
        return (channel in SPECIAL_INDEX) != (write.index < 0)
    stored = model.writes.get((step.thread, step.namespace, step.number), {})
    batch = {channel for channel, _ in step.writes}
    return any(
        other.task == write.task
        and other.position == write.position
        and (other.index < 0) != (write.index < 0)
        for other in stored.values()
    ) or any(
        other.task == write.task
        and other.index < 0
        and write.index < 0
        and other.channel not in batch
        for other in stored.values()
    )


def _had_earlier(step: PutWrites, write: PendingWrite, model: Model) -> bool:
    """Whether the task had regular writes before this batch, which the batch added to."""
    stored = model.writes.get((step.thread, step.namespace, step.number), {})
    return any(
        other.task == write.task
        and other.index >= 0
        and "upsert/regular-write-first-wins" in other.marks
        for other in stored.values()
    )
