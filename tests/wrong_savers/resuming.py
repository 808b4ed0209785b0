"""Savers from which a graph does not resume as it should."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

ACKNOWLEDGED = "durability/acknowledged-survives"


# -- resume, no-rerun ---------------------------------------------------------------------

# Recovery runs whenever the store is opened.
OPENED = {"lifecycle/reopen", ACKNOWLEDGED}


@wrong(
    "durability/no-rerun",
    "pending writes wait in memory for the next put",
    also={*OPENED, "durability/resume", "durability/no-gaps"},
)
class WritesWaitForThePut(SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        rows = self._rows_of_batch(writes, task_id, task_path)
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        self.__dict__.setdefault("waiting", []).append((place, rows))

    def _flush(self) -> None:
        waiting = self.__dict__.pop("waiting", [])
        if waiting:
            with self.database.writing():
                for place, rows in waiting:
                    self._insert_writes(place, rows)

    def put(self, *args: Any, **options: Any) -> Any:
        self._flush()
        return super().put(*args, **options)

    def get_tuple(self, config: Any) -> Any:
        self._flush()
        return super().get_tuple(config)

    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        self._flush()
        return super().get_delta_channel_history(config=config, channels=channels)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._flush()
        super().copy_thread(source_thread_id, target_thread_id)

    def close(self) -> None:
        self._flush()
        super().close()

    def list(self, config: Any, **options: Any) -> Any:
        self._flush()
        yield from super().list(config, **options)

    def delete_thread(self, thread_id: str) -> None:
        self._flush()
        super().delete_thread(thread_id)


@wrong(
    "durability/no-rerun",
    "on opening, what was pending is cleared away",
    also={*OPENED, "durability/resume", "durability/no-gaps"},
)
class PendingClearedOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            self.database.run("DELETE FROM writes")


@wrong(
    "durability/resume",
    "on opening, what the nodes have seen is forgotten, so that they run again",
    also={*OPENED, "durability/no-rerun"},
)
class SeenForgottenOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            for row in self._rows():
                checkpoint = {**self._load(row.checkpoint), "versions_seen": {}}
                self._insert_checkpoint(
                    CheckpointRow(
                        *(row.thread, row.ns, row.id, row.parent),
                        self._dump(checkpoint),
                        row.metadata,
                        {},
                    )
                )


@wrong(
    "durability/resume",
    "on opening, the newest checkpoint is taken for half written, and deleted",
    also={*OPENED, "durability/no-rerun", "durability/no-gaps"},
)
class NewestDeletedOnOpening(SqliteReference):
    def setup(self) -> None:
        with self.database.writing():
            newest = {(row.thread, row.ns): row for row in sorted(self._rows(), key=lambda r: r.id)}
            for row in newest.values():
                self._delete_row(row)
