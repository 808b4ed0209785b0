"""Delete runs, prune and copy threads in the state of LangGraph's saver in memory."""

from collections.abc import Collection, Iterable
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.pruning import Namespace, Stored, needed_of, pruned
from saverproof_savers.snapshot_state import Place, SaverState, undecodable


def delete_for_runs(state: SaverState, serde: SerializerProtocol, run_ids: Collection[str]) -> None:
    """Remove the checkpoints of these runs, their writes, and the values that no other checkpoint
    uses.

    Checkpoints from which the delta channels of other checkpoints are rebuilt stay.
    """
    for thread_id in list(state.storage):
        gone: list[tuple[str, str]] = []
        for checkpoint_ns, checkpoints in state.storage[thread_id].items():
            place = (thread_id, checkpoint_ns)
            ids = [
                checkpoint_id
                for checkpoint_id, (_, metadata, _) in checkpoints.items()
                if _decoded(serde, metadata, (*place, checkpoint_id)).get("run_id") in run_ids
            ]
            kept = needed_of(_namespace(state, serde, *place), ids) if ids else set()
            gone.extend((checkpoint_ns, each) for each in ids if each not in kept)
        _remove(state, serde, thread_id, gone)


def prune(state: SaverState, serde: SerializerProtocol, thread_id: str) -> None:
    """Remove what ``pruned`` returns for the thread."""
    namespaces = {
        checkpoint_ns: _namespace(state, serde, thread_id, checkpoint_ns)
        for checkpoint_ns, checkpoints in state.storage.get(thread_id, {}).items()
        if checkpoints
    }
    _remove(state, serde, thread_id, pruned(namespaces))


def _namespace(
    state: SaverState, serde: SerializerProtocol, thread_id: str, checkpoint_ns: str
) -> Namespace:
    stored: Namespace = {}
    checkpoints = state.storage[thread_id][checkpoint_ns]
    for checkpoint_id, (checkpoint, metadata, parent_id) in checkpoints.items():
        place = (thread_id, checkpoint_ns, checkpoint_id)
        versions = _decoded(serde, checkpoint, place)["channel_versions"]
        channels = {
            channel: _entry(state, (thread_id, checkpoint_ns, channel, version))
            for channel, version in versions.items()
        }
        stored[checkpoint_id] = Stored.of(parent_id, channels, _decoded(serde, metadata, place))
    return stored


def _decoded(serde: SerializerProtocol, stored: tuple[str, bytes], place: Place) -> Any:
    try:
        return serde.loads_typed(stored)
    except Exception as error:
        raise undecodable(place, error) from error


def _entry(state: SaverState, key: tuple[str, str, str, object]) -> list[object]:
    kind, value = state.blobs.get(key, ("empty", b""))
    return [key[-1]] if kind == "empty" else [key[-1], value]


def _remove(
    state: SaverState, serde: SerializerProtocol, thread_id: str, gone: Iterable[tuple[str, str]]
) -> None:
    touched = set()
    for checkpoint_ns, checkpoint_id in gone:
        del state.storage[thread_id][checkpoint_ns][checkpoint_id]
        state.writes.pop((thread_id, checkpoint_ns, checkpoint_id), None)
        touched.add(checkpoint_ns)
    for checkpoint_ns in touched:
        used = {
            (channel, version)
            for checkpoint_id, (stored, _, _) in state.storage[thread_id][checkpoint_ns].items()
            for channel, version in _decoded(
                serde, stored, (thread_id, checkpoint_ns, checkpoint_id)
            )["channel_versions"].items()
        }
        for key in list(state.blobs):
            if key[:2] == (thread_id, checkpoint_ns) and key[2:] not in used:
                del state.blobs[key]


def copy_thread(state: SaverState, source: str, target: str) -> None:
    """Copy all of ``source`` to ``target``.

    Raises:
        ValueError: ``target`` is not empty.
    """
    taken = any(state.storage.get(target, {}).values())
    if taken or any(key[0] == target and batch for key, batch in state.writes.items()):
        raise ValueError(f"copy_thread: the target thread {target!r} holds data already")
    for checkpoint_ns, checkpoints in list(state.storage.get(source, {}).items()):
        state.storage[target][checkpoint_ns].update(checkpoints)
    for (thread_id, *place), batch in list(state.writes.items()):
        if thread_id == source:
            checkpoint_ns, checkpoint_id = place
            state.writes[target, checkpoint_ns, checkpoint_id] = dict(batch)
    for (thread_id, checkpoint_ns, channel, version), value in list(state.blobs.items()):
        if thread_id == source:
            state.blobs[target, checkpoint_ns, channel, version] = value
