"""Savers whose async half was not brought along when the sync half was mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saverproof.mistakes.parity import ASYNC, SAME
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf, WriteRow
from saverproof.mistakes.registry import mistake


class _Older(ReferenceSaver):
    """What the async half still does."""

    def _replaces(self, row: WriteRow) -> bool:
        return False

    def _shelves_to_copy(self, thread: str) -> list[Shelf]:
        return self._of_the_root(super()._shelves_to_copy(thread))

    def _keep_latest(self, thread: str) -> None:
        for shelf in self._of_the_root(self._shelves_of(thread)):
            kept = self._kept(shelf)
            self._drop(shelf, [id for id in shelf.checkpoints if id not in kept])

    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return [] if shelf.ns else super()._ids_of_runs(shelf, run_ids)

    def _of_the_root(self, shelves: list[Shelf]) -> list[Shelf]:
        return [shelf for shelf in shelves if shelf.ns == ""]


class _TwoHalves(ReferenceSaver):
    """A base saver that can do as its async half once did."""

    @property
    def _older(self) -> ReferenceSaver:
        return _Older(self.store, serde=self.serde)


@mistake(
    SAME,
    "INSERT OR IGNORE in aput_writes, for special writes as well",
    apis=ASYNC,
    also={"upsert/special-write-last-wins", "upsert/special-write-last-wins-mixed"},
)
class AsyncSpecialWritesStay(_TwoHalves):
    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        self._older.put_writes(config, writes, task_id, task_path)


@mistake(
    SAME,
    "acopy_thread copies the root namespace alone",
    apis=ASYNC,
    also={"deletion/copy-complete"},
)
class AsyncCopyOfTheRootOnly(_TwoHalves):
    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._older.copy_thread(source_thread_id, target_thread_id)


@mistake(
    SAME,
    "aprune prunes the root namespace alone",
    apis=ASYNC,
    also={"deletion/prune-drops-older"},
)
class AsyncPruneOfTheRootOnly(_TwoHalves):
    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._older.prune(thread_ids, strategy=strategy)


@mistake(
    SAME,
    "adelete_for_runs deletes in the root namespace alone",
    apis=ASYNC,
    also={"deletion/runs"},
)
class AsyncRunsOfTheRootOnly(_TwoHalves):
    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._older.delete_for_runs(run_ids)
