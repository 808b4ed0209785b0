"""Compares one checkpoint tuple that a saver gave with what the model holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.execution.calls import checkpoint_format
from saverproof.judging.expected import expected_of
from saverproof.judging.sheet import Sheet
from saverproof.judging.writes import judge_writes
from saverproof.model.metadata import equal
from saverproof.model.records import Address, Channel, Provenance, Record
from saverproof.model.store import Model
from saverproof.steps.identifiers import mint, timestamp
from saverproof.values import same

ABSENT = "absent"
_MERGED = "serialization/config-metadata-merged"

VALUE_CONTRACT = {
    Provenance.GIVEN: "serialization/channel-values",
    Provenance.CARRIED: "channels/unchanged-carried",
    Provenance.COPIED: "channels/copy-fork",
    Provenance.DROPPED: "channels/dropped-stays-dropped",
}


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


def judge_tuple(sheet: Sheet, model: Model, address: Address, observed: Any, thread: str) -> None:
    """Compare every fact of a tuple that stands for ``address``; ``thread`` is its real id."""
    record = model.record(address)
    assert record is not None
    if not is_mapping(field(observed, "checkpoint")):
        sheet.differ(
            "identity/tuple-addresses-itself", "malformed", address, "a CheckpointTuple", observed
        )
        return
    _judge_address(sheet, address, observed, thread)
    _judge_parent(sheet, record, address, observed, thread)
    _judge_fields(sheet, record, address, observed.checkpoint)
    _judge_metadata(sheet, record, address, field(observed, "metadata"))
    _judge_values(sheet, model, record, address, observed.checkpoint.get("channel_values"))
    if address not in model.doubted_writes:
        judge_writes(sheet, model, address, field(observed, "pending_writes"))
    for mark in record.marks:
        sheet.agree(mark)


def _judge_address(sheet: Sheet, address: Address, observed: Any, thread: str) -> None:
    shown = place(observed.config)
    expected = (thread, address[1], mint(address[2]))
    sheet.compare(
        "identity/tuple-addresses-itself", "address", address, expected, shown, settled=True
    )


def _judge_parent(
    sheet: Sheet, record: Record, address: Address, observed: Any, thread: str
) -> None:
    if "parent" in record.doubts:
        return
    config = field(observed, "parent_config")
    if record.parent is None or (config is None and record.parent_may_be_gone):
        if config is not None:
            _doubt(sheet, record, "parent", "identity/parent", address, None, config)
        else:
            sheet.agree("identity/parent")
        return
    expected = (thread, address[1], mint(record.parent))
    shown = place(config)
    if expected == shown:
        sheet.agree("identity/parent")
    else:
        _doubt(sheet, record, "parent", "identity/parent", address, expected, shown)


def _doubt(
    sheet: Sheet,
    record: Record,
    fact: str,
    contract: str,
    address: Address,
    expected: Any,
    observed: Any,
) -> None:
    record.doubts.add(fact)
    sheet.differ(contract, fact, address, expected, observed)


def _judge_fields(
    sheet: Sheet, record: Record, address: Address, checkpoint: Mapping[str, Any]
) -> None:
    contract = "serialization/checkpoint-fields"
    versions = {name: channel.version for name, channel in record.channels.items()}
    step = record.step
    expected: dict[str, Any] = {
        "v": step.format if step.format is not None else checkpoint_format(),
        "id": mint(step.number),
        "ts": timestamp(step.number),
        "channel_versions": versions,
        "versions_seen": record.seen,
    }
    if step.fields == "usual":
        expected["updated_channels"] = (
            [] if step.copy_of is not None else sorted(name for name, _ in step.changes)
        )
    for name, value in expected.items():
        if name in record.doubts:
            continue
        shown = checkpoint.get(name, ABSENT)
        if same(value, shown):
            sheet.agree(contract)
        else:
            _doubt(sheet, record, name, contract, address, {name: value}, {name: shown})
    if step.fields != "usual" and "updated_channels" not in record.doubts:
        shown = checkpoint.get("updated_channels")
        if shown:
            _doubt(sheet, record, "updated_channels", contract, address, None, shown)
        else:
            sheet.agree(contract)


def _judge_metadata(sheet: Sheet, record: Record, address: Address, metadata: Any) -> None:
    shown = metadata if is_mapping(metadata) else {}
    for key, value in record.stale.items():
        if f"stale:{key}" not in record.doubts and key in shown and equal(value, shown[key]):
            fact = f"stale:{key}"
            _doubt(sheet, record, fact, "upsert/put-replaces", address, {}, {key: value})
    for key in record.barred.intersection(shown):
        if f"metadata:{key}" not in record.doubts:
            fact, found = f"metadata:{key}", {key: shown[key]}
            _doubt(sheet, record, fact, _MERGED, address, {}, found)
    for contract, expected in (
        ("serialization/metadata", record.metadata),
        (_MERGED, record.merged),
    ):
        for key, value in expected.items():
            fact = f"metadata:{key}"
            if fact in record.doubts:
                continue
            if key in shown and equal(value, shown[key]):
                sheet.agree(contract)
            else:
                found = {key: shown[key]} if key in shown else metadata
                _doubt(sheet, record, fact, contract, address, {key: value}, found)


def _judge_values(
    sheet: Sheet, model: Model, record: Record, address: Address, values: Any
) -> None:
    shown = values if is_mapping(values) else {}
    thread, namespace, _ = address
    for name, channel in record.channels.items():
        if (thread, namespace, name, channel.version) in model.doubted_values:
            continue
        if value_agrees(channel, name, shown):
            sheet.agree(VALUE_CONTRACT[channel.provenance])
            continue
        model.doubted_values.add((thread, namespace, name, channel.version))
        expected = {} if channel.value is None else {name: expected_of(channel.value)}
        found = {name: shown[name]} if name in shown else {}
        contract = VALUE_CONTRACT[channel.provenance]
        if channel.optional and name in shown:
            contract = "channels/dropped-stays-dropped"
        sheet.differ(contract, f"value:{name}", address, expected, found)
    for name in shown:
        if name not in record.channels and f"value:{name}" not in record.doubts:
            _doubt(
                sheet,
                record,
                f"value:{name}",
                "channels/dropped-stays-dropped",
                address,
                {},
                {name: shown[name]},
            )


def value_agrees(channel: Channel, name: str, shown: Mapping[str, Any]) -> bool:
    """Whether a channel is shown as it may be shown."""
    if name not in shown:
        return channel.value is None or channel.optional
    if channel.value is None:
        return False
    return same(expected_of(channel.value), shown[name])
