"""A saver that removes no checkpoints of a thread in which anything is of delta channels."""

from __future__ import annotations

from collections.abc import Collection

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@right(
    "threads that use delta channels are neither pruned nor deleted from by run",
    about={"deletion", "graph"},
)
class RefusesThreadsWithDeltas(SqliteReference):
    def _keep_latest(self, thread: str) -> None:
        self._refuse_deltas([thread])
        super()._keep_latest(thread)

    def _unneeded(self, doomed: list[CheckpointRow]) -> list[CheckpointRow]:
        self._refuse_deltas({row.thread for row in doomed})
        return doomed

    def _refuse_deltas(self, threads: Collection[str]) -> None:
        for thread in threads:
            if any(map(self._uses_deltas, self._rows("thread = ?", str(thread)))):
                raise NotImplementedError(f"thread {thread!r} uses delta channels")

    def _uses_deltas(self, row: CheckpointRow) -> bool:
        values = self._load(row.checkpoint)["channel_values"].values()
        return "counters_since_delta_snapshot" in self._load_metadata(row.metadata) or any(
            type(value).__name__ == "_DeltaSnapshot" for value in values
        )
