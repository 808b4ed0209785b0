"""Compares one checkpoint tuple of a saver with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saverproof.judging import facts
from saverproof.judging.agreed import Agreed
from saverproof.judging.answers import field as field_of
from saverproof.judging.answers import is_mapping, shown_id
from saverproof.judging.facts import Cause, Fact, FactLog
from saverproof.judging.fields import (
    OWN_ADDRESS,
    PARENT,
    WELL_FORMED,
    ChannelValue,
    Field,
    Metadata,
    Shown,
    checkpoint_fields,
    metadata_of,
    value_agrees,
    values_of,
)
from saverproof.judging.pending_writes import Note, judge_writes
from saverproof.programs.model.metadata import equal
from saverproof.programs.model.records import Address, Provenance, Record
from saverproof.programs.model.store import Model
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values import same


def is_another(model: Model, address: Address, observed: Any) -> bool:
    """Return whether the answer is another checkpoint of the namespace.

    Everything else then differs as well, and is not compared.
    """
    shown = shown_id(observed)
    if shown == mint(address[2]):
        return False
    return shown in map(mint, model.history(address[0], address[1]))


def _is_of_another_thread(model: Model, address: Address, checkpoint: Mapping[str, Any]) -> bool:
    """Return whether the checkpoint has what another thread holds under the same id.

    Threads that are copies of each other do not count.
    """
    thread, namespace, number = address
    holders = {
        other
        for other in model.threads
        if (record := model.record((other, namespace, number))) and _has_all_of(record, checkpoint)
    }
    return bool(holders) and not holders & _copies_of(model, thread)


def _copies_of(model: Model, thread: str) -> set[str]:
    """Return the thread and all threads linked with it by copying, in either direction."""
    alike: set[str] = {thread}
    while further := [pair for pair in model.copies if alike & pair and not pair <= alike]:
        alike.update(*further)
    return alike


def _has_all_of(record: Record, checkpoint: Mapping[str, Any]) -> bool:
    """Return whether a checkpoint has values, and has exactly the values and versions of a
    record.
    """
    values, channels = checkpoint.get("channel_values"), record.channels
    if not values or not is_mapping(values):
        return False
    return (
        values.keys() <= channels.keys()
        and all(value_agrees(channel, name, values) for name, channel in channels.items())
        and same({n: c.version for n, c in channels.items()}, checkpoint.get("channel_versions"))
    )


def judge_tuple(log: FactLog, model: Model, address: Address, observed: Any, thread: str) -> None:
    """Compare every fact of a tuple that stands for ``address``; ``thread`` is its real id."""
    record = model.record(address)
    assert record is not None
    if not is_mapping(field_of(observed, "checkpoint")):
        log.differ(facts.MALFORMED, address, "a CheckpointTuple", observed, part=WELL_FORMED)
        return
    known, first_look = len(log.differences), not record.looked_at
    agreed = None if record.doubts or model.doubted_values else record.agreed
    foreign = False
    if agreed is not None and agreed.recognizes(observed):
        agreed.count(log)
    else:
        shown = Shown(record, thread, observed)
        if is_another(model, address, observed):
            expected = OWN_ADDRESS.expected(shown)
            found = (*expected[:2], shown_id(observed))
            log.differ(facts.ADDRESS, address, expected, found, part=OWN_ADDRESS)
            return
        foreign = _judge_content(log, model, address, shown)
    record.looked_at = True
    if not foreign:
        judge_writes(log, model, address, field_of(observed, "pending_writes"))
    for difference in log.differences[known:]:
        difference.first_look = first_look
    for mark in record.marks:
        log.agree(mark)


def _judge_content(log: FactLog, model: Model, address: Address, shown: Shown) -> bool:
    """Compare all but the pending writes; return whether the content is another thread's."""
    record, content = shown.record, FactLog(log.look)
    _judge_address(content, address, shown)
    _judge(content, facts.PARENT, (PARENT,), address, shown)
    _judge(content, facts.FIELD, checkpoint_fields(record), address, shown)
    _judge_metadata(content, address, shown)
    _judge_values(content, model, address, shown)
    log.merge(content)
    if content.differences and _is_of_another_thread(model, address, shown.found.checkpoint):
        for difference in content.differences:
            difference.cause = Cause.OTHER_THREAD
        return True
    if not (content.differences or content.masked or record.doubts or model.doubted_values):
        record.agreed = Agreed(record, shown.found, content)
    return False


def _judge(
    log: FactLog, fact: Fact, fields: Iterable[Field], address: Address, shown: Shown
) -> None:
    """Compare fields of one kind. Once a field has differed, its later differences are masked."""
    doubts, agreed = shown.record.doubts, 0
    for field in fields:
        doubted = bool(doubts) and fact.of(field.detail) in doubts
        if not field.holds(shown):
            _tell(log.mask if doubted else log.differ, fact, field, address, shown)
            doubts.add(fact.of(field.detail))
        elif not doubted:
            agreed += 1
    if agreed:
        log.agree(fact, agreed)


def _tell(note: Note, fact: Fact, field: Field, address: Address, shown: Shown) -> None:
    note(
        fact,
        address,
        field.told(field.expected(shown)),
        field.told(field.observed(shown)),
        detail=field.detail,
        part=field,
    )


def _judge_address(log: FactLog, address: Address, shown: Shown) -> None:
    if OWN_ADDRESS.holds(shown):
        log.agree(facts.ADDRESS)
    else:
        _tell(log.differ, facts.ADDRESS, OWN_ADDRESS, address, shown)


def _judge_metadata(log: FactLog, address: Address, shown: Shown) -> None:
    record, there = shown.record, metadata_of(shown.found)
    back = [key for key, v in record.stale.items() if key in there and equal(v, there[key])]
    given = record.metadata
    # Almost always all is as it was given: then no field has to be made for each key.
    usual = bool(given) and not (back or record.doubts)
    if usual and all(key in there and equal(value, there[key]) for key, value in given.items()):
        log.agree(facts.METADATA, len(given))
        given = {}
    for fact, keys in (
        (facts.METADATA_STALE, back),
        (facts.METADATA_BARRED, record.barred.intersection(there)),
        (facts.METADATA, given),
        (facts.METADATA_MERGED, record.merged),
    ):
        if keys:
            _judge(log, fact, map(Metadata, keys), address, shown)


def _judge_values(log: FactLog, model: Model, address: Address, shown: Shown) -> None:
    record, there = shown.record, values_of(shown.found)
    thread, namespace, _ = address
    for name, channel in record.channels.items():
        version = (thread, namespace, name, channel.version)
        doubted = bool(model.doubted_values) and version in model.doubted_values
        if value_agrees(channel, name, there):
            if not doubted:
                log.agree(facts.VALUES[channel.provenance])
            continue
        model.doubted_values.add(version)
        optional = channel.optional and name in there
        fact = facts.VALUES[Provenance.DROPPED if optional else channel.provenance]
        _tell(log.mask if doubted else log.differ, fact, ChannelValue(name), address, shown)
    for name in there:
        if name not in record.channels:
            doubted = f"value:{name}" in record.doubts
            record.doubts.add(f"value:{name}")
            note, fact = log.mask if doubted else log.differ, facts.VALUES[Provenance.DROPPED]
            _tell(note, fact, ChannelValue(name), address, shown)
