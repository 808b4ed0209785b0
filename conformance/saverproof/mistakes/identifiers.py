"""Savers that look at only a part of an id."""

from __future__ import annotations

from collections.abc import Hashable

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

ADDRESS = "identity/tuple-addresses-itself"
COMPLETE = "pending-writes/complete"


@mistake(
    ADDRESS,
    "an index over the first sixteen characters of an id finds the newest of several",
    also={"identity/unknown-is-none", "delta-history/matches-walk"},
)
class CheckpointByPrefix(ReferenceSaver):
    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        alike = [known for known in shelf.checkpoints if known[:16] == id[:16]]
        return shelf.checkpoints[max(alike)] if alike else None


class TasksByPart(ReferenceSaver):
    """A base saver whose key of a write has only a part of the task's id."""

    part = slice(None)

    def _write_key(self, row: WriteRow) -> Hashable:
        return (row.task_id[self.part], row.index)


@mistake(COMPLETE, "a column for twenty-four characters of a task's id, and the rest is cut off")
class TaskByPrefix(TasksByPart):
    part = slice(24)


@mistake(COMPLETE, "a short form of a task's id: what stands behind the last hyphen")
class TaskByItsEnd(TasksByPart):
    part = slice(-12, None)
