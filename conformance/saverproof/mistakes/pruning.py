"""Savers that prune what is still needed, or copy only a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

# -- prune --------------------------------------------------------------------------------


@mistake("deletion/prune-latest", "the newest of the thread is kept, not of each namespace")
class PruneKeepsOnePerThread(ReferenceSaver):
    def _kept(self, shelf: Shelf) -> set[str]:
        newest = max(
            (id for s in self._shelves_of(shelf.thread) for id in s.checkpoints), default=""
        )
        return super()._kept(shelf) if newest in shelf.checkpoints else set()


# A prune that keeps another checkpoint than the newest leaves an older one and its delta chain.
ANOTHER = {"deletion/prune-drops-older", "deletion/prune-keeps-delta-chain"}


@mistake("deletion/prune-latest", "ORDER BY checkpoint_id LIMIT 1 keeps the oldest", also=ANOTHER)
class PruneKeepsOldest(ReferenceSaver):
    def _newest(self, shelf: Shelf) -> str:
        return min(shelf.checkpoints)


@mistake("deletion/prune-latest", "the last one inserted is kept", also=ANOTHER)
class PruneKeepsLastInserted(ReferenceSaver):
    def _newest(self, shelf: Shelf) -> str:
        return next(reversed(shelf.checkpoints))


@mistake("deletion/prune-latest", "the writes table is emptied, that of the kept one included")
class PruneTakesAllWrites(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            if not self._has_delta_channels(shelf):
                shelf.writes.clear()


# A channel that lost its value may be a delta channel, which needs older checkpoints.
@mistake(
    "deletion/prune-latest",
    "only the values that the kept checkpoint stored itself are kept",
    also={"deletion/prune-drops-older"},
)
class PruneTakesOlderValues(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        for shelf in self._shelves_of(thread):
            kept = {shelf.checkpoints[id].parent for id in self._kept(shelf)}
            parents = [row for id, row in shelf.checkpoints.items() if id in kept]
            if self._has_delta_channels(shelf):
                continue
            for row in parents:
                for channel, version in row.versions.items():
                    shelf.values.pop(self._value_key(row, channel, version), None)
        super()._keep_latest(thread)


@mistake("deletion/prune-latest", "the strategy is not looked at: delete keeps the latest")
class PruneDeleteKeepsLatest(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids)


@mistake("deletion/prune-latest", "no thread ids means all threads")
class PruneOfNothingIsAll(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        every = list(dict.fromkeys(shelf.thread for shelf in self._all_shelves()))
        super().prune(thread_ids or every, strategy=strategy)


@mistake("deletion/prune-latest", "the kept checkpoint is written anew, without its metadata")
class PruneTakesMetadata(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            if not self._has_delta_channels(shelf):
                for id, row in shelf.checkpoints.items():
                    shelf.checkpoints[id] = replace(row, metadata=self._dump_metadata({}))


@mistake("deletion/prune-drops-older", "nothing is ever dropped")
class PruneDoesNothing(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        return


@mistake("deletion/prune-drops-older", "the latest and the one before it are kept")
class PruneKeepsTwo(ReferenceSaver):
    def _kept(self, shelf: Shelf) -> set[str]:
        return {*super()._kept(shelf), *sorted(shelf.checkpoints)[-2:]}


@mistake("deletion/prune-drops-older", "nested namespaces are left as they are")
class PruneLeavesNested(ReferenceSaver):
    def _kept(self, shelf: Shelf) -> set[str]:
        return super()._kept(shelf) if shelf.ns == "" else set(shelf.checkpoints)


@mistake("deletion/prune-drops-older", "older checkpoints are dropped, and their writes are not")
class PruneLeavesWrites(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        before = {shelf.ns: dict(shelf.writes) for shelf in self._shelves_of(thread)}
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            shelf.writes.update(before.get(shelf.ns, {}))


@mistake("deletion/prune-keeps-delta-chain", "everything but the latest is dropped")
class PruneCutsDeltaChains(ReferenceSaver):
    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        return set()


@mistake("deletion/prune-keeps-delta-chain", "the chain is kept, its writes are not")
class PruneTakesDeltaWrites(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            newest = max(shelf.checkpoints, default="")
            for id in [id for id in shelf.writes if id != newest]:
                self._drop_writes(shelf, id)


_TAKEN = {"metadata": "taken by a prune"}


@mistake(
    "deletion/prune-keeps-delta-chain", "the chain is kept, and cannot be read without its metadata"
)
class PruneTakesMetadataOfTheChain(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            for id, row in shelf.checkpoints.items():
                if id != self._newest(shelf):
                    shelf.checkpoints[id] = replace(row, metadata=self._dump_metadata(_TAKEN))

    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        if found.metadata == _TAKEN:
            raise KeyError("step")
        return found


@mistake(
    "deletion/prune-keeps-delta-chain", "the chain is kept up to the first snapshot of any channel"
)
class PruneKeepsToTheFirstSnapshot(ReferenceSaver):
    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        chain: set[str] = set()
        if self._has_delta_channels(shelf):
            for ancestor in self._ancestors(shelf, row):
                chain.add(ancestor.id)
                if any(blob is not None for blob in self._blobs(shelf, ancestor).values()):
                    break
        return chain


# -- copy ---------------------------------------------------------------------------------


@mistake("deletion/copy-complete", "the writes table is forgotten")
class CopyWithoutWrites(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(replace(shelf, writes={}), copy)


@mistake("deletion/copy-complete", "the root namespace alone is copied")
class CopyOfTheRootOnly(ReferenceSaver):
    def _shelves_to_copy(self, thread: str) -> list[Shelf]:
        return [shelf for shelf in self._shelves_of(thread) if shelf.ns == ""]


@mistake("deletion/copy-complete", "the head alone is copied")
class CopyOfTheHead(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        newest = max(shelf.checkpoints, default="")
        rows = {id: row for id, row in shelf.checkpoints.items() if id == newest}
        super()._copy_shelf(replace(shelf, checkpoints=rows), copy)


@mistake("deletion/copy-complete", "the values' table is forgotten")
class CopyWithoutValues(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(replace(shelf, values={}), copy)


@mistake("deletion/copy-complete", "the parents of the copy name the source")
class CopyWithTheSourcesParents(ReferenceSaver):
    def _copied_row(self, row: CheckpointRow, thread: str) -> CheckpointRow:
        self.store.extra[(thread, row.ns, row.id)] = row.thread
        return super()._copied_row(row, thread)

    def _parent_config(self, row: CheckpointRow) -> Any:
        thread = self.store.extra.get((row.thread, row.ns, row.id), row.thread)
        return None if row.parent is None else self._address(thread, row.ns, row.parent)


@mistake("deletion/copy-complete", "the copy's checkpoints have no parents")
class CopyWithoutParents(ReferenceSaver):
    def _copied_row(self, row: CheckpointRow, thread: str) -> CheckpointRow:
        return replace(super()._copied_row(row, thread), parent=None)


@mistake("deletion/copy-complete", "early writes go by JOIN, and stay behind")
class CopyWithoutEarlyWrites(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        known = {id: rows for id, rows in shelf.writes.items() if id in shelf.checkpoints}
        super()._copy_shelf(replace(shelf, writes=known), copy)


@mistake("deletion/copy-independent", "the copy is a link to the source")
class CopyIsALink(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        shelf.writes.update(copy.writes)
        copy.writes = shelf.writes


@mistake("deletion/copy-independent", "dict(writes): the writes of a checkpoint are shared")
class CopySharesWrites(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        copy.writes.update(shelf.writes)


# Deleting the source then removes more than the source.
MORE = {"deletion/thread-all"}


@mistake(
    "deletion/copy-independent",
    "the values stay the source's, and go when it is deleted",
    also=MORE,
)
class CopySharesValues(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        self.store.extra.setdefault(id(shelf), []).append(copy)

    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        for copy in self.store.extra.pop(id(shelf), []):
            copy.values = {key: v for key, v in copy.values.items() if key not in shelf.values}


@mistake(
    "deletion/copy-independent",
    "deleting the source deletes its copies, by a foreign key",
    also=MORE,
)
class DeleteTakesTheCopies(ReferenceSaver):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self.store.extra.setdefault(source_thread_id, []).append(target_thread_id)

    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        copies = [s for t in self.store.extra.pop(thread, []) for s in self._shelves_of(t)]
        return [*super()._shelves_to_delete(thread), *copies]
