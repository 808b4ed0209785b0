"""Compares one checkpoint tuple that a saver gave with what the model holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.execution.calls import PENDING_SEND, checkpoint_format
from saverproof.judging import facts
from saverproof.judging.expected import expected_of
from saverproof.judging.facts import Cause, Fact, FactLog
from saverproof.judging.writes import judge_writes
from saverproof.model.metadata import equal
from saverproof.model.records import Address, Channel, Provenance, Record
from saverproof.model.store import Model
from saverproof.steps.identifiers import mint, timestamp
from saverproof.values import same

ABSENT = "absent"


def part(config: Any, key: str) -> Any:
    """One entry of a config's ``configurable``, or None, whatever the config is."""
    return _configurable(config).get(key)


def place(config: Any) -> tuple[Any, Any, Any]:
    """The thread, the namespace and the checkpoint id of a config, whatever the config is."""
    parts = _configurable(config)
    return parts.get("thread_id"), parts.get("checkpoint_ns") or "", parts.get("checkpoint_id")


def _configurable(config: Any) -> Mapping[str, Any]:
    parts = config.get("configurable") if is_mapping(config) else None
    return parts if parts is not None and is_mapping(parts) else {}


def is_mapping(value: Any) -> bool:
    """Whether a value is a mapping; asked of almost nothing but dicts."""
    return type(value) is dict or isinstance(value, Mapping)


def field(observed: Any, name: str) -> Any:
    """One field of a tuple that may not be a tuple at all."""
    return getattr(observed, name, None)


def shown_id(observed: Any) -> Any:
    """The id that a tuple's checkpoint says it has."""
    checkpoint = field(observed, "checkpoint")
    return checkpoint.get("id") if is_mapping(checkpoint) else None


def is_another(model: Model, address: Address, observed: Any) -> bool:
    """Whether another checkpoint of the namespace was answered, of which all the rest differs."""
    shown = shown_id(observed)
    known = map(mint, model.history(address[0], address[1]))
    return shown != mint(address[2]) and shown in known


def _is_of_another_thread(model: Model, address: Address, checkpoint: Mapping[str, Any]) -> bool:
    """Whether it has what another thread's checkpoint of the same id has, and is no copy."""
    thread, namespace, number = address
    holders = {
        other
        for other in model.threads
        if (record := model.record((other, namespace, number))) and _has_all_of(record, checkpoint)
    }
    return bool(holders) and not holders & _copies_of(model, thread)


def _copies_of(model: Model, thread: str) -> set[str]:
    """The thread itself, and all that were copied from or to any of these."""
    alike: set[str] = {thread}
    while further := [pair for pair in model.copies if alike & pair and not pair <= alike]:
        alike.update(*further)
    return alike


def _has_all_of(record: Record, checkpoint: Mapping[str, Any]) -> bool:
    """Whether a checkpoint has some values, and those and the versions of a record."""
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
    if not is_mapping(field(observed, "checkpoint")):
        log.differ(facts.MALFORMED, address, "a CheckpointTuple", observed)
        return
    if is_another(model, address, observed):
        asked, shown = mint(address[2]), shown_id(observed)
        log.differ(facts.ADDRESS, address, (thread, address[1], asked), (thread, address[1], shown))
        return
    known = len(log.differences)
    _judge_address(log, address, observed, thread)
    _judge_parent(log, record, address, observed, thread)
    _judge_fields(log, record, address, observed.checkpoint)
    _judge_metadata(log, record, address, field(observed, "metadata"))
    _judge_values(log, model, record, address, observed.checkpoint.get("channel_values"))
    if len(log.differences) > known and _is_of_another_thread(model, address, observed.checkpoint):
        for difference in log.differences[known:]:
            difference.cause = Cause.OTHER_THREAD
    elif address not in model.doubted_writes:
        judge_writes(log, model, address, field(observed, "pending_writes"))
    for mark in record.marks:
        log.agree(mark)


def _judge_address(log: FactLog, address: Address, observed: Any, thread: str) -> None:
    shown = place(observed.config)
    expected = (thread, address[1], mint(address[2]))
    log.compare(facts.ADDRESS, address, expected, shown)


def _judge_parent(
    log: FactLog, record: Record, address: Address, observed: Any, thread: str
) -> None:
    if "parent" in record.doubts:
        return
    config = field(observed, "parent_config")
    if record.parent is None or (config is None and record.parent_may_be_gone):
        if config is not None:
            _doubt(log, record, facts.PARENT, address, None, config)
        else:
            log.agree(facts.PARENT)
        return
    expected = (thread, address[1], mint(record.parent))
    shown = place(config)
    if expected == shown:
        log.agree(facts.PARENT)
    else:
        _doubt(log, record, facts.PARENT, address, expected, shown)


def _doubt(
    log: FactLog,
    record: Record,
    fact: Fact,
    address: Address,
    expected: Any,
    observed: Any,
    detail: str | None = None,
) -> None:
    log.differ(fact, address, expected, observed, detail=detail)
    record.doubts.add(log.differences[-1].fact)


def _judge_fields(
    log: FactLog, record: Record, address: Address, checkpoint: Mapping[str, Any]
) -> None:
    versions = {name: channel.version for name, channel in record.channels.items()}
    step = record.step
    expected: dict[str, Any] = {
        "v": step.format if step.format is not None else checkpoint_format(),
        "id": mint(step.number),
        "ts": timestamp(step.number if step.clock is None else step.clock),
        "channel_versions": versions,
        "versions_seen": record.seen,
    }
    if step.fields == "usual":
        expected["updated_channels"] = (
            [] if step.copy_of is not None else sorted(name for name, _ in step.changes)
        )
    elif step.fields == "pending-sends":
        expected["pending_sends"] = [PENDING_SEND.make()]
    for name, value in expected.items():
        if name in record.doubts:
            continue
        shown = checkpoint.get(name, ABSENT)
        if same(value, shown):
            log.agree(facts.FIELD)
        else:
            _doubt(log, record, facts.FIELD, address, {name: value}, {name: shown}, name)
    if step.fields != "usual" and "updated_channels" not in record.doubts:
        shown = checkpoint.get("updated_channels")
        if shown:
            _doubt(log, record, facts.FIELD, address, None, shown, "updated_channels")
        else:
            log.agree(facts.FIELD)


def _judge_metadata(log: FactLog, record: Record, address: Address, metadata: Any) -> None:
    shown = metadata if is_mapping(metadata) else {}
    for key, value in record.stale.items():
        if f"stale:{key}" not in record.doubts and key in shown and equal(value, shown[key]):
            _doubt(log, record, facts.METADATA_STALE, address, {}, {key: value}, key)
    for key in record.barred.intersection(shown):
        if f"metadata:{key}" not in record.doubts:
            _doubt(log, record, facts.METADATA_BARRED, address, {}, {key: shown[key]}, key)
    for fact, expected in (
        (facts.METADATA, record.metadata),
        (facts.METADATA_MERGED, record.merged),
    ):
        for key, value in expected.items():
            if f"metadata:{key}" in record.doubts:
                continue
            if key in shown and equal(value, shown[key]):
                log.agree(fact)
            else:
                found = {key: shown[key]} if key in shown else metadata
                _doubt(log, record, fact, address, {key: value}, found, key)


def _judge_values(
    log: FactLog, model: Model, record: Record, address: Address, values: Any
) -> None:
    shown = values if is_mapping(values) else {}
    thread, namespace, _ = address
    for name, channel in record.channels.items():
        if (thread, namespace, name, channel.version) in model.doubted_values:
            continue
        if value_agrees(channel, name, shown):
            log.agree(facts.VALUES[channel.provenance])
            continue
        model.doubted_values.add((thread, namespace, name, channel.version))
        expected = {} if channel.value is None else {name: expected_of(channel.value)}
        found = {name: shown[name]} if name in shown else {}
        optional = channel.optional and name in shown
        fact = facts.VALUES[Provenance.DROPPED if optional else channel.provenance]
        log.differ(fact, address, expected, found, detail=name)
    for name in shown:
        if name not in record.channels and f"value:{name}" not in record.doubts:
            fact, found = facts.VALUES[Provenance.DROPPED], {name: shown[name]}
            _doubt(log, record, fact, address, {}, found, name)


def value_agrees(channel: Channel, name: str, shown: Mapping[str, Any]) -> bool:
    """Whether a channel is shown as it may be shown."""
    if name not in shown:
        return channel.value is None or channel.optional
    if channel.value is None:
        return False
    return same(expected_of(channel.value), shown[name])
