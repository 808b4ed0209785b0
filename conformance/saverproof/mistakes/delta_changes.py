"""Savers that lose delta channels where something changes, or far from the newest checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from saverproof.mistakes.delta_history import WALK, History
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

CHAIN = "deletion/prune-keeps-delta-chain"
RUNS = "deletion/runs-keep-delta-chain"
NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"
"""The task of writes that no task of a step makes (langgraph/_internal/_constants.py)."""
_PAGE = 1_024
"""How many checkpoints the saver looks at, as PostgresSaver 3.1.2 did (langgraph issue 8448)."""


# -- what a seed is -------------------------------------------------------------------------


def _is_snapshot(value: Any) -> bool:
    return type(value).__name__ == "_DeltaSnapshot"


@mistake(WALK, "a seed is opened: what the snapshot holds is given")
class SeedsOpened(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if _is_snapshot(history.get("seed")):
            history["seed"] = history["seed"].value
        return history


@mistake(WALK, "a snapshot ends the walk, and is not given")
class SnapshotsLeftOut(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        history = super()._channel_history(target, channel)
        if _is_snapshot(history.get("seed")):
            del history["seed"]
        return history


@mistake(WALK, "snapshots alone end the walk: what was stored whole before is passed by")
class SnapshotsAloneAreSeeds(ReferenceSaver):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Any:
        blobs = super()._blobs(shelf, row)
        if not self.__dict__.get("walking"):
            return blobs
        return {
            channel: blob
            for channel, blob in blobs.items()
            if blob is not None and _is_snapshot(self._load_value(blob))
        }

    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        self.__dict__["walking"] = True
        try:
            return super()._channel_history(target, channel)
        finally:
            self.__dict__["walking"] = False


# -- what is asked --------------------------------------------------------------------------


@mistake(
    WALK,
    "ORDER BY checkpoint_id DESC LIMIT 1024: a target below that page has no history",
    heavy=True,
)
class TargetsBelowThePage(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        if target is not None:
            ids = self._shelf(target.thread, target.ns).checkpoints
            if sum(id > target.id for id in ids) >= _PAGE:
                target = None
        return super()._channel_history(target, channel)


@mistake(WALK, "IN () of no channels is an error")
class NoChannelsRefused(ReferenceSaver):
    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        if not channels:
            raise ValueError('syntax error at or near ")"')
        return super().get_delta_channel_history(config=config, channels=channels)


@mistake(WALK, "`channels or all`: asked for none, it gives every channel")
class NoChannelsAreAll(ReferenceSaver):
    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        target = self._find(config)
        every = [*target.versions] if target is not None else []
        return super().get_delta_channel_history(config=config, channels=channels or every)


@mistake(WALK, "writes of the path are ordered by the ids of their tasks")
class HistoryByTaskId(ReferenceSaver):
    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        self.__dict__["by_task"] = True
        try:
            return super()._channel_history(target, channel)
        finally:
            self.__dict__["by_task"] = False

    def _write_order(self, row: Any) -> Any:
        if self.__dict__.get("by_task"):
            return (row.task_id, row.index)
        return super()._write_order(row)


# -- runs that are saved at their end --------------------------------------------------------


@mistake(
    "pending-writes/complete",
    "ids that begin with zeros are taken for the null task's: step 0 of a run saved at its end",
    also={"ordering/writes-sorted", "upsert/regular-write-first-wins", "pending-writes/scoped"},
)
class ZerosAreTheNullTask(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if task_id.startswith("00000000-"):
            task_id, task_path = NULL_TASK_ID, ""
        super().put_writes(config, writes, task_id, task_path)


@mistake(
    "ordering/writes-sorted",
    "no tildes in a path: the later steps of a run saved at its end come first",
    also={"pending-writes/one-task-two-paths"},
)
class LateStepsFirst(ReferenceSaver):
    def _write_order(self, row: Any) -> Any:
        return (row.path.lstrip("~"), row.path, row.task_id, row.index)


# -- what changes -----------------------------------------------------------------------------


class Remembering(ReferenceSaver):
    """A base saver that caches delta histories, by checkpoint and channel unless `key` is
    overridden.
    """

    def key(self, target: CheckpointRow | None, channel: str) -> Any:
        return None if target is None else (target.thread, target.ns, target.id, channel)

    def _channel_history(self, target: CheckpointRow | None, channel: str) -> History:
        kept: dict[Any, History] = self.store.extra.setdefault(type(self).__name__, {})
        key = self.key(target, channel)
        if key is None:
            return super()._channel_history(target, channel)
        if key not in kept:
            kept[key] = super()._channel_history(target, channel)
        return deepcopy(kept[key])


@mistake(WALK, "ancestors do not change: a history is kept for good")
class HistoriesKept(Remembering):
    pass


@mistake(WALK, "a history is kept until something is put: late writes are not")
class HistoriesOutlastWrites(Remembering):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self.store.extra.pop(type(self).__name__, None)
        super()._store_checkpoint(shelf, row)


@mistake(WALK, "a history is kept until something is put or written: a removal is not")
class HistoriesOutlastRemovals(HistoriesOutlastWrites):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: Any) -> None:
        self.store.extra.pop(type(self).__name__, None)
        super()._store_batch(shelf, checkpoint_id, rows)


class ParentsApart(ReferenceSaver):
    """A base saver that follows a table of its own from checkpoint to parent."""

    def _parents(self, thread: str, ns: str) -> dict[str, str | None]:
        parents: dict[str, str | None] = self.store.extra.setdefault(("parents", thread, ns), {})
        return parents

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        self._note_parent(self._parents(shelf.thread, shelf.ns), row)

    def _note_parent(self, parents: dict[str, str | None], row: CheckpointRow) -> None:
        parents[row.id] = row.parent

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        parents, seen = self._parents(shelf.thread, shelf.ns), {target.id}
        id = parents.get(target.id)
        while id is not None and id in shelf.checkpoints and id not in seen:
            seen.add(id)
            yield shelf.checkpoints[id]
            id = parents.get(id)


@mistake(WALK, "the table of parents is filled by put, and not by copy_thread")
class ParentsNotCopied(ParentsApart):
    pass


@mistake(
    WALK, "the table of parents keeps the first parent of an id, whether it was deleted or not"
)
class ParentsNotReplaced(ParentsApart):
    def _note_parent(self, parents: dict[str, str | None], row: CheckpointRow) -> None:
        parents.setdefault(row.id, row.parent)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        self._parents(copy.thread, copy.ns).update(self._parents(shelf.thread, shelf.ns))


# -- other namespaces than the root ---------------------------------------------------------


@mistake(CHAIN, "the chains of delta channels are kept in the root namespace alone")
class NestedChainsCut(ReferenceSaver):
    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        return super()._delta_chain(shelf, row) if shelf.ns == "" else set()


@mistake(CHAIN, "the chain of the last channel that has one is kept")
class OneChainKept(ReferenceSaver):
    def _delta_channels(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        return {*sorted(super()._delta_channels(shelf, row))[-1:]}


@mistake(CHAIN, "a chain is kept for as many checkpoints as the counter says, less one")
class ChainsByCounter(ReferenceSaver):
    def _delta_chain(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        chain = super()._delta_chain(shelf, row)
        return chain - {min(chain)} if len(chain) > 1 else chain


# -- other runs than the deleted one --------------------------------------------------------


@mistake(RUNS, "a run's checkpoints go, whatever later runs are rebuilt from")
class ChainsOfRunsCut(ReferenceSaver):
    def _needed_by_others(self, shelf: Shelf, doomed: set[str]) -> set[str]:
        return set()


@mistake(RUNS, "what the newest checkpoint is rebuilt from is kept, and no other branch's")
class ChainsOfBranchesCut(ReferenceSaver):
    def _needed_by_others(self, shelf: Shelf, doomed: set[str]) -> set[str]:
        newest = shelf.checkpoints[self._newest(shelf)]
        return self._chain_of(shelf, newest, self._said(newest))


@mistake(RUNS, "the parent of each checkpoint that stays is kept, and no ancestor beyond it")
class ChainsOfParentsAlone(ReferenceSaver):
    def _needed_by_others(self, shelf: Shelf, doomed: set[str]) -> set[str]:
        stay = [row for id, row in shelf.checkpoints.items() if id not in doomed]
        return {row.parent for row in stay if row.parent is not None and self._said(row)}


@mistake(RUNS, "the chains of delta channels are kept in the root namespace alone")
class NestedChainsOfRunsCut(ReferenceSaver):
    def _needed_by_others(self, shelf: Shelf, doomed: set[str]) -> set[str]:
        return super()._needed_by_others(shelf, doomed) if shelf.ns == "" else set()


@mistake(WALK, "histories of nested namespaces are looked for in the root")
class HistoriesOfTheRoot(ReferenceSaver):
    def get_delta_channel_history(
        self, *, config: Any, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        configurable = {**config["configurable"], "checkpoint_ns": ""}
        asked: Any = {**config, "configurable": configurable}
        return super().get_delta_channel_history(config=asked, channels=channels)
