"""Savers whose removals and copies leave things behind: values, answers, unnamed contents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, Shelf
from saverproof.mistakes.registry import mistake


@mistake(
    "deletion/no-ghosts",
    "values stay behind, and one of a version that is known is not stored again",
    also={"deletion/copy-complete", "channels/history-immutable"},
)
class DeletedValuesStay(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return f"{int(current or 0) + 1:032}"

    def _left(self, shelf: Shelf) -> dict[Hashable, Blob | None]:
        left: dict[Hashable, Blob | None] = self.store.extra.setdefault(
            (shelf.thread, shelf.ns), {}
        )
        return left

    def _delete_shelf(self, shelf: Shelf) -> None:
        self._left(shelf).update(shelf.values)
        super()._delete_shelf(shelf)

    def _store_values(self, shelf: Shelf, values: dict[Hashable, Blob | None]) -> None:
        left = self._left(shelf)
        super()._store_values(shelf, {key: left.get(key) or blob for key, blob in values.items()})


class LatestCached(ReferenceSaver):
    """A base saver that caches the latest tuple of each namespace until the namespace is
    written.
    """

    def _cached(self) -> dict[Any, CheckpointTuple | None]:
        cached: dict[Any, CheckpointTuple | None] = self.store.extra.setdefault("latest", {})
        return cached

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if self._asked_id(config):
            return super().get_tuple(config)
        place = (self._thread_of(config), self._get_ns(config))
        if place not in self._cached():
            self._cached()[place] = super().get_tuple(config)
        # Returned objects belong to the caller, so the tuple is read anew.
        found = self._cached()[place]
        return (found and super().get_tuple(found.config)) or found

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        self._cached().pop((thread, ns), None)
        return super()._shelf_for_writing(thread, ns)


@mistake("deletion/thread-all", "the cache of the latest is cleared by puts alone")
class DeletedLatestCached(LatestCached):
    def _keep_latest(self, thread: str) -> None:
        self._cached().clear()
        super()._keep_latest(thread)

    def _prune_whole(self, thread: str) -> None:
        self._cached().clear()
        super()._prune_whole(thread)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._cached().clear()
        super().delete_for_runs(run_ids)


@mistake(
    "deletion/copy-complete", "that a thread has nothing is cached, and a copy does not clear it"
)
class NothingCachedOverCopy(LatestCached):
    def _remove(self, shelf: Shelf) -> None:
        self._cached().clear()
        super()._remove(shelf)

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        self._cached().clear()
        super()._drop(shelf, ids)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        self._cached()[copy.thread, copy.ns] = None
        super()._copy_shelf(shelf, copy)


@mistake("deletion/runs", "a page of a hundred of a run's checkpoints is deleted")
class RunsHundredAtMost(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return super()._ids_of_runs(shelf, run_ids)[:100]


@mistake("deletion/runs", "no run ids means all runs")
class RunsOfNothingIsAll(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return super()._ids_of_runs(shelf, run_ids) if run_ids else [*shelf.checkpoints]


@mistake(
    "deletion/prune-latest",
    "thread_id = thread_ids[0]: the others are not looked at",
    also={"deletion/prune-drops-older"},
)
class PrunesTheFirstThread(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids[:1], strategy=strategy)
