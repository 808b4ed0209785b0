"""Checkpoints to put, and a step-by-step thread to put them in."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple


def checkpoint_id(number: int) -> str:
    """A canonical uuid6 text, ordered as the numbers are."""
    return f"1ef00000-0000-6000-8000-{number:012x}"


def at(
    thread_id: str = "thread", number: int | None = None, namespace: str | None = ""
) -> RunnableConfig:
    """The config of a checkpoint, of the latest, or (namespace None) of a whole thread."""
    configurable: dict[str, Any] = {"thread_id": thread_id}
    if namespace is not None:
        configurable["checkpoint_ns"] = namespace
    if number is not None:
        configurable["checkpoint_id"] = checkpoint_id(number)
    return {"configurable": configurable}


def make(
    number: int,
    values: Mapping[str, Any] | None = None,
    versions: Mapping[str, Any] | None = None,
) -> Checkpoint:
    """A checkpoint; without versions, each value has the version `number`."""
    given = dict(values or {})
    return {
        "v": 4,
        "id": checkpoint_id(number),
        "ts": "2026-11-21T22:00:00+00:00",
        "channel_values": given,
        "channel_versions": dict(versions or dict.fromkeys(given, number)),
        "versions_seen": {"__input__": {}, "node": {"messages": 1}},
        "updated_channels": None,
    }


def put(
    saver: Any,
    number: int,
    values: Mapping[str, Any] | None = None,
    *,
    thread_id: str = "thread",
    namespace: str = "",
    parent: int | None = None,
    versions: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> RunnableConfig:
    """Put one checkpoint; without `new`, all its versions are new."""
    made = make(number, values, versions)
    config: RunnableConfig = saver.put(
        at(thread_id, parent, namespace),
        made,
        dict(metadata or {"source": "loop", "step": number}),
        dict(made["channel_versions"] if new is None else new),
    )
    return config


def values_of(saver: Any, number: int, thread_id: str = "thread", namespace: str = "") -> Any:
    """The channel values of a checkpoint, read back."""
    return got(saver, number, thread_id, namespace).checkpoint["channel_values"]


def got(
    saver: Any, number: int | None = None, thread_id: str = "thread", namespace: str = ""
) -> CheckpointTuple:
    """A checkpoint that must be there."""
    found: CheckpointTuple | None = saver.get_tuple(at(thread_id, number, namespace))
    assert found is not None
    return found


def writes_of(saver: Any, number: int, thread_id: str = "thread") -> list[tuple[str, Any]]:
    """Channel and value of each pending write of a checkpoint, in order."""
    pending = got(saver, number, thread_id).pending_writes
    return [(channel, value) for _, channel, value in pending or []]


def numbers(saver: Any, config: RunnableConfig | None = None, **criteria: Any) -> list[int]:
    """The numbers of the checkpoints that `list` gives, in its order."""
    listed = saver.list(at(namespace=None) if config is None else config, **criteria)
    return [number_of(each) for each in listed]


def number_of(found: CheckpointTuple) -> int:
    """The number that `make` was given."""
    return int(found.checkpoint["id"].rsplit("-", 1)[1], 16)
