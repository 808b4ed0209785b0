"""Savers that change only the first page of what they are asked to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf
from saverproof.mistakes.registry import mistake

PAGE = 100
"""The number of rows of a page, after which savers of this module stop."""
# A copy into a deleted thread comes on top of what the deletion left there.
COPIES = {"deletion/copy-complete", "deletion/copy-independent"}


@mistake(
    "deletion/thread-all", "a hundred namespaces are deleted", also={"deletion/no-ghosts", *COPIES}
)
class HundredNamespacesDeleted(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return super()._shelves_to_delete(thread)[:PAGE]


@mistake("deletion/no-ghosts", "a hundred pending writes of a checkpoint are deleted", also=COPIES)
class HundredWritesDeleted(ReferenceSaver):
    def _remove(self, shelf: Shelf) -> None:
        left = {id: dict([*writes.items()][PAGE:]) for id, writes in shelf.writes.items()}
        super()._remove(shelf)
        if any(left.values()):
            kept = self._shelf_for_writing(shelf.thread, shelf.ns)
            kept.writes = {id: writes for id, writes in left.items() if writes}


@mistake("deletion/copy-complete", "a hundred pending writes of a checkpoint are copied")
class HundredWritesCopied(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id in shelf.writes:
            copy.writes[id] = dict([*copy.writes[id].items()][:PAGE])


@mistake("deletion/prune-drops-older", "a hundred threads are pruned")
class HundredThreadsPruned(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids[:PAGE], strategy=strategy)


@mistake("deletion/runs", "a hundred runs are deleted")
class HundredRunsDeleted(ReferenceSaver):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        super().delete_for_runs(run_ids[:PAGE])


@mistake("identity/list-selects", "a page of a hundred threads is listed")
class HundredThreadsListed(ReferenceSaver):
    def _selected(self, config: Any) -> Any:
        rows = super()._selected(config)
        threads = [*dict.fromkeys(row.thread for row in rows)][:PAGE]
        return [row for row in rows if row.thread in threads]
