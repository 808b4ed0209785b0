"""Hooks of the reference saver for deleting, copying, pruning, and delta histories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig

from saverproof.mistakes.reference.reading import Reading
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow


class Maintenance(Reading):
    """The hooks of all operations other than put and read."""

    def delete_thread(self, thread_id: str) -> None:
        with self.store.lock:
            for shelf in self._shelves_to_delete(str(thread_id)):
                self._delete_shelf(shelf)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.store.lock:
            for shelf in list(self._all_shelves()):
                self._drop_runs(shelf, self._ids_of_runs(shelf, run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        source, target = str(source_thread_id), str(target_thread_id)
        if source == target:
            return
        with self.store.lock:
            for shelf in self._shelves_to_copy(source):
                self._copy_shelf(shelf, self._shelf_for_writing(target, shelf.ns))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy not in {"keep_latest", "delete"}:
            raise ValueError(f"strategy: found {strategy!r}, expected 'keep_latest' or 'delete'")
        with self.store.lock:
            for thread in thread_ids:
                if strategy == "delete":
                    self._prune_whole(str(thread))
                else:
                    self._keep_latest(str(thread))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        with self.store.lock:
            target = self._find(config) if channels else None
            return {channel: self._channel_history(target, channel) for channel in channels}

    # -- deleting -------------------------------------------------------------------------

    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return self._shelves_of(thread)

    def _delete_shelf(self, shelf: Shelf) -> None:
        self._remove(shelf)

    def _remove(self, shelf: Shelf) -> None:
        del self.store.shelves[self._shelf_key(shelf.thread, shelf.ns)]

    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        kept = self._needed_by_others(shelf, {*ids}) if ids else set()
        self._drop(shelf, [id for id in ids if id not in kept])

    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return [
            id
            for id, row in shelf.checkpoints.items()
            if self._load_metadata(row.metadata).get("run_id") in run_ids
        ]

    def _needed_by_others(self, shelf: Shelf, doomed: set[str]) -> set[str]:
        """Return the checkpoints from which the delta channels of the remaining checkpoints are
        rebuilt.
        """
        stay = [row for id, row in shelf.checkpoints.items() if id not in doomed]
        return {id for row in stay for id in self._chain_of(shelf, row, self._said(row))}

    def _said(self, row: CheckpointRow) -> set[str]:
        """Return the channels that the metadata names as delta channels."""
        metadata = self._load_metadata(row.metadata)
        return {*(metadata.get("counters_since_delta_snapshot") or {})}

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        for id in ids:
            del shelf.checkpoints[id]
            self._drop_writes(shelf, id)
        if ids:
            self._drop_values(shelf)

    def _drop_writes(self, shelf: Shelf, id: str) -> None:
        shelf.writes.pop(id, None)

    def _drop_values(self, shelf: Shelf) -> None:
        read = {
            self._value_key(row, channel, version)
            for row in shelf.checkpoints.values()
            for channel, version in row.versions.items()
        }
        shelf.values = {key: blob for key, blob in shelf.values.items() if key in read}

    # -- copying --------------------------------------------------------------------------

    def _shelves_to_copy(self, thread: str) -> list[Shelf]:
        return self._shelves_of(thread)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        copy.values.update(shelf.values)
        for id, row in shelf.checkpoints.items():
            copy.checkpoints[id] = self._copied_row(row, copy.thread)
        for id, writes in shelf.writes.items():
            copy.writes.setdefault(id, {}).update(writes)

    def _copied_row(self, row: CheckpointRow, thread: str) -> CheckpointRow:
        return replace(row, thread=thread)

    # -- pruning --------------------------------------------------------------------------

    def _prune_whole(self, thread: str) -> None:
        for shelf in self._shelves_of(thread):
            self._remove(shelf)

    def _keep_latest(self, thread: str) -> None:
        for shelf in self._shelves_of(thread):
            kept = self._kept(shelf)
            self._drop(shelf, [id for id in shelf.checkpoints if id not in kept])

    def _kept(self, shelf: Shelf) -> set[str]:
        if not shelf.checkpoints:
            return set()
        newest = self._newest(shelf)
        return {newest, *self._delta_chain(shelf, shelf.checkpoints[newest])}

    def _newest(self, shelf: Shelf) -> str:
        return max(shelf.checkpoints)

    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        """Return the ancestors from which the delta channels of this row are rebuilt."""
        return self._chain_of(shelf, row, self._delta_channels(shelf, row))

    def _chain_of(self, shelf: Shelf, row: CheckpointRow, channels: set[str]) -> set[str]:
        missing, chain = channels - self._held(shelf, row), set[str]()
        for ancestor in self._ancestors(shelf, row) if missing else ():
            if missing:
                chain.add(ancestor.id)
                missing -= self._held(shelf, ancestor)
        return chain

    def _delta_channels(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        """Return the channels that may have to be rebuilt.

        They have a version and no value, or the metadata names them as delta channels. The channels
        by which LangGraph triggers nodes lose their value in every step, and are no delta channels.
        """
        empty = {channel for channel in row.versions if not channel.startswith("branch:")}
        return (self._said(row) | empty) - self._held(shelf, row)

    def _held(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        return {channel for channel, blob in self._blobs(shelf, row).items() if blob is not None}

    def _has_delta_channels(self, shelf: Shelf) -> bool:
        return any(self._delta_channels(shelf, row) for row in shelf.checkpoints.values())

    # -- delta history --------------------------------------------------------------------

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        return self._ancestors(shelf, target)

    def _channel_history(self, target: CheckpointRow | None, channel: str) -> dict[str, Any]:
        if target is None:
            return {"writes": []}
        shelf = self._shelf(target.thread, target.ns)
        steps: list[list[WriteRow]] = []
        history: dict[str, Any] = {}
        for row in self._walk(shelf, target):
            seed = self._blobs(shelf, row).get(channel)
            steps.append([w for w in self._writes_of(shelf, row) if w.channel == channel])
            if seed is not None:
                history["seed"] = self._load_value(seed)
                break
        history["writes"] = [
            (row.task_id, row.channel, self._load_write(row.value))
            for rows in reversed(steps)
            for row in rows
        ]
        return history
