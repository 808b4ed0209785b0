"""Savers on which real graphs go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saverproof.mistakes.reference.reading import Blobs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from tests.wrong_savers.registry import wrong

SAME = "graph/same-run"
FUNCTIONAL = "graph/functional-api"
REPLAY = "graph/replay-subgraph"
Batch = Sequence[tuple[str, Any]]


class WritesKept(ReferenceSaver):
    """Keeps those writes that `_keeps` names."""

    def _keeps(self, channel: str) -> bool:
        return True

    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [row for row in rows if self._keeps(row.channel)]


@wrong(SAME, "interrupts are taken for something internal, and not stored", also={FUNCTIONAL})
class InterruptsNotStored(WritesKept):
    def _keeps(self, channel: str) -> bool:
        return channel != "__interrupt__"


@wrong(SAME, "what a user resumes with is not stored", also={FUNCTIONAL})
class ResumesNotStored(WritesKept):
    def _keeps(self, channel: str) -> bool:
        return channel != "__resume__"


@wrong(SAME, "what nodes have seen is not stored: all of them run again", also={FUNCTIONAL, REPLAY})
class VersionsSeenNotStored(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "versions_seen": {}}


@wrong(SAME, "no parents: a history cannot be told from its forks")
class ParentsNotStored(ReferenceSaver):
    def _parent_of(self, config: Any) -> str | None:
        return None


@wrong(SAME, "writes of one task replace each other, as a Send fan-out shows")
class OneWritePerTask(ReferenceSaver):
    def _write_key(self, row: WriteRow) -> Any:
        return row.task_id if row.index >= 0 else (row.task_id, row.index)


@wrong(SAME, "the latest is the last one put: a fork of the past is not found again")
class LatestHasTheHighestStep(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        def step(row: CheckpointRow) -> tuple[int, str]:
            return int(self._load_metadata(row.metadata).get("step", 0)), row.id

        return max(shelf.checkpoints.values(), key=step)


@wrong(SAME, "all subgraphs of a thread share one namespace", also={REPLAY})
class SubgraphsShareOnePlace(ReferenceSaver):
    def _shelf_key(self, thread: str, ns: str) -> Any:
        return (thread, ns.split(":")[0])


@wrong(FUNCTIONAL, "channels of the framework are not the user's, and not stored")
class PreviousNotStored(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        values = super()._load_values(blobs)
        return {c: value for c, value in values.items() if c != "__previous__"}


@wrong(FUNCTIONAL, "results of tasks are taken for something internal", also={SAME})
class ReturnsNotStored(WritesKept):
    def _keeps(self, channel: str) -> bool:
        return channel != "__return__"


@wrong(REPLAY, "before is looked up in the listed namespace, where the parent's id is not")
class BeforeOfTheParentUnknown(ReferenceSaver):
    def _before(self, rows: list[CheckpointRow], before: Any) -> list[CheckpointRow]:
        bound = before["configurable"].get("checkpoint_id") if before else None
        known = any(row.id == bound for row in rows)
        return super()._before(rows, before) if known else rows


@wrong(REPLAY, "nothing is before a checkpoint that this namespace does not have")
class NothingBeforeTheParent(ReferenceSaver):
    def _before(self, rows: list[CheckpointRow], before: Any) -> list[CheckpointRow]:
        bound = before["configurable"].get("checkpoint_id") if before else None
        known = bound is None or any(row.id == bound for row in rows)
        return super()._before(rows, before) if known else []
