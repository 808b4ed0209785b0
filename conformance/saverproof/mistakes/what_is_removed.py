"""Savers whose removals and copies go wrong only with certain lists, runs or earlier contents."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import ChannelVersions, Checkpoint

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, Version
from saverproof.mistakes.registry import mistake

RUNS = "deletion/runs"
_COLUMN = 32
_PAGE = 100
"""The number of namespaces of a page, after which savers of this module stop."""


class RunsOf(ReferenceSaver):
    """A base saver that tells from a text whether a checkpoint belongs to a run."""

    def is_of(self, metadata: dict[str, Any], run: str) -> bool:
        raise NotImplementedError

    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return [
            id
            for id, row in shelf.checkpoints.items()
            if any(self.is_of(self._load_metadata(row.metadata), run) for run in run_ids)
        ]


# -- which run it is --------------------------------------------------------------------------


@mistake(RUNS, "a column for thirty-two characters of a run's id")
class RunsCut(RunsOf):
    def is_of(self, metadata: dict[str, Any], run: str) -> bool:
        return str(metadata.get("run_id", "\0"))[:_COLUMN] == run[:_COLUMN]


@mistake(RUNS, "a run whose id is longer than thirty-six characters is not found")
class LongRunsNotFound(RunsOf):
    def is_of(self, metadata: dict[str, Any], run: str) -> bool:
        return metadata.get("run_id") == run and len(run) <= 36


@mistake(RUNS, "metadata LIKE '%\"run\"%': any key may hold the run's id")
class RunsAnywhere(RunsOf):
    def is_of(self, metadata: dict[str, Any], run: str) -> bool:
        return json.dumps(run) in json.dumps(metadata, default=str)


class RunIndex(ReferenceSaver):
    """A base saver that finds the checkpoints of a run in a table of its own."""

    def _index(self) -> dict[tuple[str, str, str], Any]:
        index: dict[tuple[str, str, str], Any] = self.store.extra.setdefault("index of runs", {})
        return index

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        run = self._load_metadata(row.metadata).get("run_id")
        self._note((row.thread, row.ns, row.id), run)

    def _note(self, key: tuple[str, str, str], run: Any) -> None:
        self._index()[key] = run

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id in shelf.checkpoints:
            run = self._index().get((shelf.thread, shelf.ns, id))
            self._index()[(copy.thread, copy.ns, id)] = run

    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        index = self._index()
        return [
            id for id in shelf.checkpoints if index.get((shelf.thread, shelf.ns, id)) in run_ids
        ]


@mistake(RUNS, "the index of runs is filled by put, and not by copy_thread")
class CopiesOfNoRun(RunIndex):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        ReferenceSaver._copy_shelf(self, shelf, copy)


@mistake(RUNS, "the index of runs keeps the run that first put an id", also={"upsert/put-replaces"})
class FirstRunOfAnId(RunIndex):
    def _note(self, key: tuple[str, str, str], run: Any) -> None:
        self._index().setdefault(key, run)


@mistake(RUNS, "a run is of one thread: the thread of its first checkpoint")
class RunsOfOneThread(ReferenceSaver):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.store.lock:
            for run in run_ids:
                found = [
                    (s, ids) for s in self._all_shelves() if (ids := self._ids_of_runs(s, [run]))
                ]
                for shelf, ids in found:
                    if shelf.thread == found[0][0].thread:
                        self._drop_runs(shelf, ids)


@mistake(RUNS, "runs are deleted in a hundred namespaces")
class RunsInHundredNamespaces(ReferenceSaver):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.store.lock:
            for shelf in [*self._all_shelves()][:_PAGE]:
                self._drop_runs(shelf, self._ids_of_runs(shelf, run_ids))


# -- lists of threads ---------------------------------------------------------------------------


@mistake(
    "deletion/prune-drops-older", "the first thread of which nothing is stored ends the clean-up"
)
class UnknownThreadEndsPruning(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        known: list[str] = []
        for thread in thread_ids:
            if not self._shelves_of(str(thread)):
                break
            known.append(thread)
        super().prune(known, strategy=strategy)


@mistake("deletion/prune-drops-older", "a hundred namespaces of a thread are pruned")
class HundredNamespacesPruned(ReferenceSaver):
    def _keep_latest(self, thread: str) -> None:
        for shelf in self._shelves_of(thread)[:_PAGE]:
            kept = self._kept(shelf)
            self._drop(shelf, [id for id in shelf.checkpoints if id not in kept])


# -- what is copied -------------------------------------------------------------------------------


@mistake("deletion/copy-complete", "special writes belong to the run, and are not copied")
class SpecialWritesNotCopied(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id, writes in shelf.writes.items():
            copy.writes[id] = {key: row for key, row in writes.items() if row.index >= 0}


@mistake("deletion/copy-complete", "copied writes are numbered anew, special ones with the rest")
class CopiedWritesNumberedAnew(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id, writes in shelf.writes.items():
            ordered = self._ordered_writes(writes.values())
            copy.writes[id] = {("copied", n): row for n, row in enumerate(ordered)}


@mistake("deletion/copy-complete", "the copied rows have the task id, and not the task's path")
class CopiedWritesWithoutTheirPath(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id, writes in shelf.writes.items():
            copy.writes[id] = {key: replace(row, path="") for key, row in writes.items()}


@mistake(
    RUNS,
    "what a copy shares with its source goes when the run that stored it is deleted there",
    also={"deletion/copy-independent"},
)
class SharedValuesGoWithTheRun(ReferenceSaver):
    def _copies(self) -> list[tuple[str, str]]:
        copies: list[tuple[str, str]] = self.store.extra.setdefault("copies", [])
        return copies

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self._copies().append((str(source_thread_id), str(target_thread_id)))

    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        before = set(shelf.values)
        super()._drop_runs(shelf, ids)
        for source, target in self._copies():
            if source == shelf.thread:
                for key in before - set(shelf.values):
                    self._shelf(target, shelf.ns).values.pop(key, None)


# -- what was there before ------------------------------------------------------------------------


@mistake(
    "deletion/no-ghosts",
    "values that were stored once are not stored again: a deleted thread's neither",
    also={"deletion/thread-all", "deletion/copy-complete", "deletion/copy-independent", RUNS},
)
class StoredOnceForGood(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return 1 if current is None else current + 1

    def _value_key(self, row: CheckpointRow, channel: str, version: Version) -> Hashable:
        return (row.id, channel, version)

    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Checkpoint, new: ChannelVersions
    ) -> dict[Hashable, Blob | None]:
        values = super()._values_to_store(shelf, row, checkpoint, new)
        stored: set[Any] = self.store.extra.setdefault("stored once", set())
        given = {(row.thread, row.ns, *item): item for item in values.items()}
        fresh = dict(item for known, item in given.items() if known not in stored)
        stored.update(given)
        return fresh


@mistake(
    "ordering/latest-is-greatest-id",
    "where the newest is deleted with its run, its parent is taken for the newest",
    also={"identity/none-id-is-latest", RUNS},
)
class ParentBecomesTheNewest(ReferenceSaver):
    def _newest_by_place(self) -> dict[tuple[str, str], str | None]:
        newest: dict[tuple[str, str], str | None] = self.store.extra.setdefault("newest", {})
        return newest

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        self._newest_by_place().pop((shelf.thread, shelf.ns), None)

    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        newest = shelf.checkpoints.get(max(shelf.checkpoints, default=""))
        super()._drop_runs(shelf, ids)
        if newest is not None and newest.id in ids:
            self._newest_by_place()[(shelf.thread, shelf.ns)] = newest.parent

    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        newest = self._newest_by_place().get((shelf.thread, shelf.ns))
        if newest is None or newest not in shelf.checkpoints:
            return super()._latest(shelf)
        return shelf.checkpoints[newest]
