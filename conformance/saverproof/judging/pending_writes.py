"""Compares the pending writes that a saver shows with the model's, when judging and in scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from saverproof.judging import facts
from saverproof.judging.facts import Difference, FactLog
from saverproof.judging.fields import record_of
from saverproof.judging.made_values import made_of
from saverproof.programs.model.records import Address, PendingWrite
from saverproof.programs.model.store import Model
from saverproof.programs.steps.identifiers import task_id
from saverproof.programs.values import Value, same
from saverproof.scripts.complaints import complain, unequal
from saverproof.scripts.writer import ScriptWriter

Note: TypeAlias = Callable[..., object]
"""A function that notes a difference: :meth:`FactLog.differ` or :meth:`FactLog.mask`."""


def judge_writes(log: FactLog, model: Model, address: Address, observed: Any) -> None:
    """Compare the pending writes of a checkpoint: which there are, their values and their order."""
    if address in model.open_writes:
        return
    expected, doubted = model.pending(address), address in model.doubted_writes
    # Almost all are lists, and to be asked of an abstract class takes longer than to copy one.
    shown = [*observed] if type(observed) is list or isinstance(observed, Sequence) else []
    if len(expected) == len(shown) and all(map(_matches, expected, shown)):
        for write in () if doubted else expected:
            log.agree(facts.WRITE)
            for mark in write.marks:
                log.agree(mark)
        if not doubted:
            log.agree(facts.WRITES_SCOPED)
        if len(expected) > 1 and not doubted:
            log.agree(facts.WRITE_ORDER)
        return
    _judge_unequal(log, model, address, expected, shown)


def _matches(write: PendingWrite, shown: Any) -> bool:
    try:
        task, channel, value = shown
    except (TypeError, ValueError):
        return False
    return (
        task_id(write.task) == task
        and write.channel == channel
        and same(made_of(write.value), value)
    )


def _judge_unequal(
    log: FactLog,
    model: Model,
    address: Address,
    expected: list[PendingWrite],
    shown: list[Any],
) -> None:
    places, missing, extra = _pair_up(expected, shown)
    all_doubted, unclear = address in model.doubted_writes, False
    for write in missing:
        note = log.mask if write.doubted or all_doubted else log.differ
        write.doubted = True
        place = next((p for p, item in extra.items() if _same_slot(write, item)), None)
        if place is None:
            fact, found = facts.WRITE_MISSING, shown
        else:
            fact, found = facts.WRITE_VALUE, extra.pop(place)
            unclear |= sum(_same_slot(other, found) for other in expected) > 1
            places.append((place, write))
        note(fact, address, as_shown(write), found, write=write, part=OneWrite(write))
    for item in extra.values():
        if all_doubted or any(write.doubted and _same_slot(write, item) for write in expected):
            _tell_extra(log.mask, model, address, item, shown)
        else:
            _judge_extra(log, model, address, item, shown)
            model.doubted_writes.add(address)
    if unclear or extra:
        # Nobody knows which write is which, and so whether they are in order.
        return
    found = [write for _, write in sorted(places, key=lambda place: place[0])]
    ordered = sorted(found, key=sort_key)
    if [*map(sort_key, found)] != [*map(sort_key, ordered)]:
        # A write that shows another's value may be paired with it, and seem out of order.
        note = log.mask if missing or all_doubted else log.differ
        wanted = [as_shown(write) for write in ordered]
        note(facts.WRITE_ORDER, address, wanted, shown, part=ORDER)
    elif len(found) > 1 and not missing and not all_doubted:
        log.agree(facts.WRITE_ORDER)


def _pair_up(
    expected: list[PendingWrite], shown: list[Any]
) -> tuple[list[tuple[int, PendingWrite]], list[PendingWrite], dict[int, Any]]:
    """Pair each expected write with a shown one.

    Return the pairs by position shown, the writes that are missing, and the extra ones by position.
    """
    free = dict(enumerate(shown))
    places: list[tuple[int, PendingWrite]] = []
    missing: list[PendingWrite] = []
    for write in expected:
        place = next((p for p, item in free.items() if _matches(write, item)), None)
        if place is None:
            missing.append(write)
        else:
            places.append((place, write))
            del free[place]
    return places, missing, free


def _same_slot(write: PendingWrite, shown: Any) -> bool:
    try:
        task, channel, _ = shown
    except (TypeError, ValueError):
        return False
    return bool(task_id(write.task) == task and write.channel == channel)


def _judge_extra(log: FactLog, model: Model, address: Address, item: Any, shown: list[Any]) -> None:
    """Note an extra write: another checkpoint's, an older value, or one shown twice."""
    twin = _tell_extra(log.differ, model, address, item, shown)
    if twin is not None:
        twin.doubted = True


def _tell_extra(
    note: Note, model: Model, address: Address, item: Any, shown: list[Any]
) -> PendingWrite | None:
    """Note an extra write. Return the expected write that it repeats, or None if it is new or
    belongs to another checkpoint.
    """
    expected = model.pending(address)
    twin = next((write for write in expected if _same_slot(write, item)), None)
    replaced = twin is not None and any(_is(value, item) for value in twin.earlier)
    foreign = not replaced and _stored_elsewhere(model, address, item)
    if foreign:
        fact = facts.WRITE_FOREIGN
    elif twin is None:
        fact = facts.WRITE_EXTRA
    else:
        fact = facts.WRITE_TWICE
    wanted = [as_shown(write) for write in expected]
    note(fact, address, wanted, shown, write=twin, item=item, part=ALL_WRITES)
    return None if foreign else twin


def _is(value: Value, item: Any) -> bool:
    return same(made_of(value), item[2])


def _stored_elsewhere(model: Model, address: Address, item: Any) -> bool:
    return any(
        _matches(write, item)
        for other, writes in model.writes.items()
        if other != address
        for write in writes.values()
    )


def sort_key(write: PendingWrite) -> tuple[str, str, int]:
    """Return the key of ``writes_sort_key`` in langgraph-checkpoint's base module."""
    return (write.path, task_id(write.task), write.index)


def as_shown(write: PendingWrite) -> tuple[str, str, Any]:
    """Return a write as a checkpoint tuple shows it."""
    return (task_id(write.task), write.channel, made_of(write.value))


# --- in scripts --------------------------------------------------------------------------------


class AllWrites:
    """All pending writes of a checkpoint; with ``ordered``, in their order."""

    __slots__ = ("_ordered",)

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of all writes shown with all writes stored."""
        pending = _pending(writer, difference)
        _say_observed(writer, found, pending)
        writer.say(f"expected = [{', '.join(map(writer.write, pending))}]")
        if self._ordered:
            values = [write.value for write in pending]
            complain(writer, unequal(difference.expected, difference.observed, *values))
        else:
            complain(writer, "sorted(observed, key=repr) != sorted(expected, key=repr)")


ALL_WRITES, ORDER = AllWrites(ordered=False), AllWrites(ordered=True)


class OneWrite:
    """One pending write, which must be among those shown."""

    __slots__ = ("_write",)

    def __init__(self, write: PendingWrite) -> None:
        self._write = write

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a search for the write; compare all writes if another one looks the same."""
        pending, place = _pending(writer, difference), (self._write.task, self._write.index)
        stored = next((write for write in pending if (write.task, write.index) == place), None)
        if stored is None or _has_twin(stored, pending):
            ALL_WRITES.show(writer, found, difference)
            return
        _say_observed(writer, found, pending)
        writer.say(f"expected = {writer.write(stored)}")
        condition = unequal(difference.expected, difference.observed, stored.value)
        plain = condition == "observed != expected"
        complain(
            writer,
            "expected not in observed" if plain else "repr(expected) not in map(repr, observed)",
        )


def _pending(writer: ScriptWriter, difference: Difference) -> list[PendingWrite]:
    step = record_of(writer, difference).step
    return writer.model.pending((step.thread, step.namespace, step.number))


def _say_observed(writer: ScriptWriter, found: str, pending: list[PendingWrite]) -> None:
    shown = "tuple(write) for write in found.pending_writes or ()"
    if any(write.value.group == "exception" for write in pending):
        # Exceptions are compared by identity: the script's differs from the one that comes back.
        shown = (
            "(task, name, repr(value) if isinstance(value, Exception) else value)"
            " for task, name, value in found.pending_writes or ()"
        )
    writer.say(f"found = {found}", f"observed = [{shown}]")


def _has_twin(write: PendingWrite, pending: list[PendingWrite]) -> bool:
    """Return whether another write looks the same, so that a search could find the wrong one."""
    shown = (write.task, write.channel, write.value)
    return sum((w.task, w.channel, w.value) == shown for w in pending) > 1
