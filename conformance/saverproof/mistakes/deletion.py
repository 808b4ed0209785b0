"""Savers that delete too little or too much."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import IntegrityError
from typing import Any

from saverproof.mistakes.channels import OwnValues
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

# Data left without a checkpoint shows only when that id is put again.
# A copy into a deleted thread comes on top of what the deletion left there.
COPIES = {"deletion/copy-complete", "deletion/copy-independent"}
GHOSTS = {"deletion/no-ghosts", *COPIES}
LEFT = {"deletion/thread-all", *COPIES}


# -- thread-all ---------------------------------------------------------------------------


@mistake("deletion/thread-all", "the root namespace alone is deleted", also=GHOSTS)
class DeletesRootOnly(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return [shelf for shelf in self._shelves_of(thread) if shelf.ns == ""]


@mistake("deletion/thread-all", "the newest checkpoint stays, as prune would have it", also=GHOSTS)
class DeletesAllButTheNewest(ReferenceSaver):
    def _delete_shelf(self, shelf: Shelf) -> None:
        newest = max(shelf.checkpoints, default="")
        if newest:
            self._drop(shelf, [id for id in shelf.checkpoints if id != newest])
        else:
            super()._delete_shelf(shelf)


@mistake(
    "deletion/thread-all",
    "del storage[thread_id] of a thread that is not there",
    also={"lifecycle/any-first-operation", "lifecycle/any-first-operation-before-setup"},
)
class UnknownThreadCannotBeDeleted(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        if not (shelves := self._shelves_of(thread)):
            raise KeyError(thread)
        return shelves


@mistake(
    "deletion/thread-all",
    "keys are scanned by prefix: a deletes ab as well",
    also={"isolation/hostile-identifiers"},
)
class DeletesByPrefix(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return [shelf for shelf in self._all_shelves() if shelf.thread.startswith(thread)]


@mistake(
    "deletion/thread-all",
    "writes are deleted by checkpoint id, in every thread",
    # A copy has the checkpoint ids of its source.
    also={"deletion/copy-independent"},
)
class DeletesWritesById(ReferenceSaver):
    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        for other in self._all_shelves():
            for id in shelf.checkpoints:
                other.writes.pop(id, None)


@mistake("deletion/thread-all", "the table is emptied, there having been one thread in the test")
class DeletesEveryThread(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return list(self._all_shelves())


@mistake("deletion/thread-all", "a mark that get_tuple knows and list does not")
class DeletedIsStillListed(ReferenceSaver):
    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        self._left_behind()[self._shelf_key(shelf.thread, shelf.ns)] = shelf

    def _left_behind(self) -> dict[Any, Shelf]:
        left: dict[Any, Shelf] = self.store.extra.setdefault("left", {})
        return left

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        self._left_behind().pop(self._shelf_key(thread, ns), None)
        return super()._shelf_for_writing(thread, ns)

    def _selected(self, config: Any) -> list[CheckpointRow]:
        left = [row for s in self._left_behind().values() for row in s.checkpoints.values()]
        thread = None if config is None else self._thread_of(config)
        ns = None if config is None else self._listed_ns(config)
        left = [row for row in left if thread in {None, row.thread} and ns in {None, row.ns}]
        return [*super()._selected(config), *left]


# -- no-ghosts ----------------------------------------------------------------------------


class Leaving(ReferenceSaver):
    """A base saver that deletes a thread's checkpoints, but only the writes that `_goes`
    selects.
    """

    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        left = {id: writes for id, writes in shelf.writes.items() if not self._goes(shelf, id)}
        if left:
            self._shelf_for_writing(shelf.thread, shelf.ns).writes = left

    def _goes(self, shelf: Shelf, id: str) -> bool:
        return True


@mistake("deletion/no-ghosts", "the writes table is forgotten", also=LEFT)
class DeleteLeavesWrites(Leaving):
    def _goes(self, shelf: Shelf, id: str) -> bool:
        return False


@mistake(
    "deletion/no-ghosts", "writes go by JOIN: those whose checkpoint never came stay", also=LEFT
)
class DeleteLeavesEarlyWrites(Leaving):
    def _goes(self, shelf: Shelf, id: str) -> bool:
        return id in shelf.checkpoints


@mistake("deletion/no-ghosts", "what lists no checkpoint is taken for empty, and left", also=LEFT)
class DeleteLeavesWhatIsUnlisted(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        found = super()._shelves_to_delete(thread)
        return found if any(shelf.checkpoints for shelf in found) else []


@mistake("deletion/no-ghosts", "writes of the nested namespaces are forgotten", also=LEFT)
class DeleteLeavesNestedWrites(Leaving):
    def _goes(self, shelf: Shelf, id: str) -> bool:
        return shelf.ns == ""


@mistake(
    "deletion/no-ghosts", "a tombstone that the next put lifts, with all that lies below", also=LEFT
)
class DeletedComesBackWithAPut(ReferenceSaver):
    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        self.store.extra[self._shelf_key(shelf.thread, shelf.ns)] = shelf

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        key = self._shelf_key(thread, ns)
        if key in self.store.extra:
            self.store.shelves[key] = self.store.extra.pop(key)
        return super()._shelf_for_writing(thread, ns)


@mistake("deletion/copy-complete", "rows that are marked as deleted are copied with the rest")
class DeletedIsCopied(ReferenceSaver):
    def _delete_shelf(self, shelf: Shelf) -> None:
        super()._delete_shelf(shelf)
        self.store.extra[self._shelf_key(shelf.thread, shelf.ns)] = shelf

    def _shelves_to_copy(self, thread: str) -> list[Shelf]:
        marked = [shelf for shelf in self.store.extra.values() if shelf.thread == thread]
        return [*marked, *super()._shelves_to_copy(thread)]


# -- runs ---------------------------------------------------------------------------------


@mistake("deletion/runs", "the run's root namespace alone is deleted")
class RunsInTheRootOnly(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return super()._ids_of_runs(shelf, run_ids) if shelf.ns == "" else []


@mistake(
    "deletion/runs",
    "the values that a deleted run stored go with it",
    also={"deletion/runs-keep-delta-chain"},
)
class RunTakesItsValues(ReferenceSaver):
    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        gone = [shelf.checkpoints[id] for id in ids]
        super()._drop_runs(shelf, ids)
        for row in gone:
            for channel, version in row.versions.items():
                shelf.values.pop(self._value_key(row, channel, version), None)


@mistake("deletion/runs", "the whole thread of the run is deleted")
class RunTakesItsThread(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        found = any(super(RunTakesItsThread, self)._ids_of_runs(s, run_ids) for s in [shelf])
        return list(shelf.checkpoints) if found else []


@mistake("deletion/runs", "only the first run id is used")
class FirstRunOnly(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return super()._ids_of_runs(shelf, run_ids[:1])


@mistake("deletion/runs", "only the last run id is used")
class LastRunOnly(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        return super()._ids_of_runs(shelf, run_ids[-1:])


@mistake("deletion/runs", "LIKE 'run%': a run id that begins alike is deleted too")
class RunsByPrefix(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        def run(row: CheckpointRow) -> str:
            return str(self._load_metadata(row.metadata).get("run_id", "\0"))

        rows = shelf.checkpoints.items()
        return [id for id, row in rows if run(row).startswith(tuple(run_ids))]


@mistake("deletion/runs", "the checkpoints below a deleted one are deleted with it")
class RunTakesItsDescendants(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        gone = set(super()._ids_of_runs(shelf, run_ids))
        for row in sorted(shelf.checkpoints.values(), key=lambda row: row.id):
            if row.parent in gone:
                gone.add(row.id)
        return list(gone)


@mistake("deletion/runs", "the writes of the run's checkpoints are forgotten")
class RunLeavesWrites(ReferenceSaver):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        before = [(shelf, dict(shelf.writes)) for shelf in self._all_shelves()]
        super().delete_for_runs(run_ids)
        for shelf, writes in before:
            shelf.writes = writes


@mistake("deletion/runs", "checkpoints without a run are taken for those of any run")
class RunTakesTheRunless(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        rows = shelf.checkpoints.items()
        wanted = {None, *run_ids} if run_ids else set()
        return [id for id, row in rows if self._load_metadata(row.metadata).get("run_id") in wanted]


@mistake("deletion/runs", "no run is stored as an empty text: the run '' has all of them")
class RunlessAreOfTheEmptyRun(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        def run(row: CheckpointRow) -> str:
            return str(self._load_metadata(row.metadata).get("run_id", ""))

        return [id for id, row in shelf.checkpoints.items() if run(row) in run_ids]


@mistake("deletion/runs", "str(None): the run 'None' has all checkpoints without one")
class RunlessAreOfTheRunNone(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        def run(row: CheckpointRow) -> str:
            return str(self._load_metadata(row.metadata).get("run_id"))

        return [id for id, row in shelf.checkpoints.items() if run(row) in run_ids]


# -- copy-by-putting ----------------------------------------------------------------------


@mistake("deletion/copy-by-putting", "a new version that the parent has stands for no value")
class KnownVersionsHaveNoValue(OwnValues):
    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Any, new_versions: Any
    ) -> Any:
        parent = shelf.checkpoints.get(row.parent or "")
        known = {} if parent is None else parent.versions
        values = super()._values_to_store(shelf, row, checkpoint, new_versions)
        emptied = {channel for channel, new in new_versions.items() if known.get(channel) == new}
        return values | {(row.id, channel): None for channel in emptied}


@mistake("deletion/copy-by-putting", "the row of a value is inserted once, and again is an error")
class VersionsInsertedOnce(ReferenceSaver):
    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Any, new_versions: Any
    ) -> Any:
        keys = {self._value_key(row, channel, new) for channel, new in new_versions.items()}
        if row.id not in shelf.checkpoints and keys & shelf.values.keys():
            raise IntegrityError("UNIQUE constraint failed: values.channel, values.version")
        return super()._values_to_store(shelf, row, checkpoint, new_versions)
