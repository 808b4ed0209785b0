"""Compares the pending writes that a saver shows with those of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saverproof.judging import facts
from saverproof.judging.expected import expected_of
from saverproof.judging.facts import FactLog
from saverproof.model.records import Address, PendingWrite
from saverproof.model.store import Model
from saverproof.steps.identifiers import task_id
from saverproof.values import Value, same


def judge_writes(log: FactLog, model: Model, address: Address, observed: Any) -> None:
    """Compare all writes of one checkpoint: which there are, their values, their order."""
    expected = model.pending(address)
    shown = list(observed) if isinstance(observed, Sequence) else []
    if len(expected) == len(shown) and all(map(_matches, expected, shown)):
        for write in expected:
            log.agree(facts.WRITE)
            for mark in write.marks:
                log.agree(mark)
        log.agree(facts.WRITES_SCOPED)
        if len(expected) > 1:
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
        and same(expected_of(write.value), value)
    )


def _judge_unequal(
    log: FactLog,
    model: Model,
    address: Address,
    expected: list[PendingWrite],
    shown: list[Any],
) -> None:
    places, missing, extra = _pair_up(expected, shown)
    found_in_order = [write for _, write in sorted(places, key=lambda place: place[0])]
    for write in missing:
        if write.doubted:
            continue
        write.doubted = True
        instead = _instead(write, extra)
        if instead is None:
            log.differ(facts.WRITE_MISSING, address, as_shown(write), shown, write=write)
        else:
            extra.remove(instead)
            log.differ(facts.WRITE_VALUE, address, as_shown(write), instead, write=write)
    for item in extra:
        if not any(write.doubted and _same_slot(write, item) for write in expected):
            _judge_extra(log, model, address, item, shown)
            model.doubted_writes.add(address)
    if not missing:
        # A write that shows another's value may be taken for it, and seem out of place.
        _judge_order(log, address, found_in_order, shown)


def _pair_up(
    expected: list[PendingWrite], shown: list[Any]
) -> tuple[list[tuple[int, PendingWrite]], list[PendingWrite], list[Any]]:
    """Pair each expected write with a shown one: where it stands, what is missing, what is over."""
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
    return places, missing, list(free.values())


def _same_slot(write: PendingWrite, shown: Any) -> bool:
    try:
        task, channel, _ = shown
    except (TypeError, ValueError):
        return False
    return bool(task_id(write.task) == task and write.channel == channel)


def _instead(write: PendingWrite, extra: list[Any]) -> Any:
    return next((item for item in extra if _same_slot(write, item)), None)


def _judge_extra(log: FactLog, model: Model, address: Address, item: Any, shown: list[Any]) -> None:
    """A write is shown that should not be: another checkpoint's, an older one, or one too many."""
    expected = model.pending(address)
    twin = next((write for write in expected if _same_slot(write, item)), None)
    replaced = twin is not None and any(_is(value, item) for value in twin.earlier)
    if not replaced and _stored_elsewhere(model, address, item):
        fact = facts.WRITE_FOREIGN
    elif twin is None:
        fact = facts.WRITE_EXTRA
    else:
        fact = facts.WRITE_TWICE
        twin.doubted = True
    wanted = [as_shown(write) for write in expected]
    log.differ(fact, address, wanted, shown, write=twin, item=item)


def _is(value: Value, item: Any) -> bool:
    return same(expected_of(value), item[2])


def _stored_elsewhere(model: Model, address: Address, item: Any) -> bool:
    return any(
        _matches(write, item)
        for other, writes in model.writes.items()
        if other != address
        for write in writes.values()
    )


def _judge_order(
    log: FactLog, address: Address, found: list[PendingWrite], shown: list[Any]
) -> None:
    ordered = sorted(found, key=sort_key)
    if [sort_key(w) for w in found] == [sort_key(w) for w in ordered]:
        if len(found) > 1:
            log.agree(facts.WRITE_ORDER)
        return
    expected = [as_shown(write) for write in ordered]
    log.differ(facts.WRITE_ORDER, address, expected, shown)


def sort_key(write: PendingWrite) -> tuple[str, str, int]:
    """``writes_sort_key`` of the base module."""
    return (write.path, task_id(write.task), write.index)


def as_shown(write: PendingWrite) -> tuple[str, str, Any]:
    """A write as a checkpoint tuple shows it."""
    return (task_id(write.task), write.channel, expected_of(write.value))
