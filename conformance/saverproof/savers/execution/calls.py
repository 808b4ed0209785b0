"""Converts steps to the arguments that LangGraph passes: configs, checkpoints, metadata, writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.programs.model.records import Address, PlannedPut
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.identifiers import mint, task_id, timestamp
from saverproof.programs.values import Value

try:
    from langgraph.pregel._checkpoint import LATEST_VERSION as _FORMAT
except ImportError:
    # LangGraph 0.5 keeps its number, which is this one, in another module.
    _FORMAT = 4

Config = dict[str, Any]
PENDING_SEND = Value("send", 0)
"""A pending send, as checkpoints of earlier LangGraph versions have them."""


@dataclass(frozen=True, slots=True)
class PutCall:
    """The arguments of one ``put``."""

    config: Config
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    new_versions: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PutWritesCall:
    """The arguments of one ``put_writes``."""

    config: Config
    writes: list[tuple[str, Any]]
    task_id: str
    task_path: str


def checkpoint_format() -> int:
    """Return the checkpoint format ``v`` that the installed LangGraph writes."""
    return _FORMAT


def put_call(step: steps.Put, planned: PlannedPut, thread: str) -> PutCall:
    """Return the arguments of a put; ``thread`` is the real id of the step's thread."""
    config = address_config(thread, step.namespace, step.parent, step.id_form, step.extras)
    checkpoint = {
        "v": step.format if step.format is not None else checkpoint_format(),
        "ts": timestamp(step.number if step.clock is None else step.clock),
        "id": mint(step.number),
        "channel_values": {
            name: channel.value.make()
            for name, channel in planned.channels.items()
            if channel.value is not None and not (channel.optional and step.omit_unchanged)
        },
        "channel_versions": {name: c.version for name, c in planned.channels.items()},
        "versions_seen": {node: dict(seen) for node, seen in planned.seen.items()},
    }
    checkpoint |= _other_fields(step, planned)
    metadata = copied(step.metadata or {})
    if step.legacy_writes is not None:
        metadata["writes"] = {step.node: step.legacy_writes.make()}
    return PutCall(config, checkpoint, metadata, dict(planned.new_versions))


def _other_fields(step: steps.Put, planned: PlannedPut) -> dict[str, Any]:
    updated = sorted(planned.new_versions)
    match step.fields:
        case "usual":
            return {"updated_channels": updated}
        case "unknown":
            return {"updated_channels": None}
        case "pending-sends":
            return {"pending_sends": [PENDING_SEND.make()], "updated_channels": None}
        case _:
            return {}


def put_writes_call(step: steps.PutWrites, thread: str) -> PutWritesCall:
    """Return the arguments of a put_writes; ``thread`` is the real id of the step's thread."""
    config = address_config(thread, step.namespace, step.number, steps.IdForm.ABSENT, step.extras)
    if not step.give_namespace:
        del config["configurable"]["checkpoint_ns"]
    writes = [(channel, value.make()) for channel, value in step.writes]
    return PutWritesCall(config, writes, task_id(step.task), step.path)


def get_config(step: steps.GetTuple, thread: str) -> Config:
    """Return the config for a get_tuple."""
    return address_config(thread, step.namespace, step.number, step.id_form, step.extras)


def list_arguments(
    step: steps.ListTuples, thread: str | None
) -> tuple[Config | None, dict[str, Any]]:
    """Return the config and the keyword arguments for a list."""
    config = None
    if thread is not None:
        config = address_config(thread, step.namespace, step.number, step.id_form, step.extras)
    filter_ = None if step.filter is None else copied(step.filter)
    return config, {"filter": filter_, "before": _bound(step, thread), "limit": step.limit}


def _bound(step: steps.ListTuples, thread: str | None) -> Config | None:
    """Return the ``before`` argument of a listing, or None.

    Within a thread it is a snapshot's whole config, as users pass it on. Over all threads it is a
    bare id, since no snapshot stands for all threads.
    """
    if step.before is None or thread is None:
        return (
            None if step.before is None else {"configurable": {"checkpoint_id": mint(step.before)}}
        )
    return address_config(thread, step.namespace or "", step.before, steps.IdForm.ABSENT)


def prune_arguments(step: steps.Prune) -> dict[str, str]:
    """Return the keyword arguments for a prune."""
    return {"strategy": step.strategy} if step.strategy else {}


def read_config(address: Address, thread: str) -> Config:
    """Return the config that names one checkpoint."""
    return {
        "configurable": {
            "thread_id": thread,
            "checkpoint_ns": address[1],
            "checkpoint_id": mint(address[2]),
        }
    }


def address_config(
    thread: str,
    namespace: str | None,
    number: int | None,
    id_form: steps.IdForm = steps.IdForm.ABSENT,
    extras: steps.Extras = steps.PLAIN,
) -> Config:
    """Return a config with an address and the extras of its caller."""
    configurable: dict[str, Any] = {"thread_id": thread}
    if namespace is not None:
        configurable["checkpoint_ns"] = namespace
    if number is not None:
        configurable["checkpoint_id"] = mint(number)
    elif id_form is steps.IdForm.NONE:
        configurable["checkpoint_id"] = None
    elif id_form is steps.IdForm.EMPTY:
        configurable["checkpoint_id"] = ""
    config: Config = {"configurable": configurable}
    if extras is not steps.PLAIN:
        _add(extras, config)
    return config


def _add(extras: steps.Extras, config: Config) -> None:
    if extras.configurable:
        config["configurable"].update(copied(extras.configurable))
    if extras.metadata:
        config["metadata"] = copied(extras.metadata)
    if extras.loop:
        config["configurable"].update(_runtime_objects())
        config.setdefault("metadata", {})["langgraph_node"] = "agent"
        config |= {"tags": ["graph:step:1"], "callbacks": None, "recursion_limit": 25}


class _Runtime:
    """A stand-in for the loop's runtime objects in configs, which must not be serialized or
    stored.
    """

    def __reduce__(self) -> str:
        raise TypeError("a runtime object is not to be serialized")


_RUNTIME = _Runtime()


def _runtime_objects() -> dict[str, Any]:
    return {
        "__pregel_runtime": _RUNTIME,
        "__pregel_send": _RUNTIME.__reduce__,
        "__pregel_task_id": task_id(1),
        "__pregel_durability": "sync",
        "checkpoint_map": {"": mint(1)},
    }


def copied(value: Any) -> Any:
    """Return a deep copy of plain JSON data."""
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    return value
