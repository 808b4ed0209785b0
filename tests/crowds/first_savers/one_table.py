"""A first saver: one SQLite table for everything, read in the order of its rows."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)

from tests.crowds.first_savers.registry import FirstSaver

Row = tuple[Any, ...]
COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_id, type, data, metadata_type, metadata"


class OneTableSaver(BaseCheckpointSaver[int]):
    """Keeps checkpoints and their writes as rows of two kinds in one table."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        path.touch(self.mode)
        self.connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.lock = threading.Lock()
        self.connection.execute(
            "CREATE TABLE IF NOT EXISTS memory (kind TEXT, thread_id BLOB, checkpoint_ns BLOB,"
            " checkpoint_id BLOB, parent_id BLOB, type TEXT, data BLOB, metadata_type TEXT,"
            " metadata BLOB, task_id BLOB, task_path BLOB, idx INTEGER, channel BLOB)"
        )

    mode = 0o666

    def ask(self, statement: str, *values: Any) -> list[Row]:
        with self.lock:
            return self.connection.execute(statement, values).fetchall()

    def close(self) -> None:
        self.connection.close()

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, ns = self.place_of(config)
        kind, data = self.serde.dumps_typed(checkpoint)
        metadata_kind, said = self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))
        parent_id = self.parent_of(config)
        self.make_room(thread_id, ns, checkpoint["id"])
        self.ask(
            f"INSERT INTO memory (kind, {COLUMNS}) VALUES ('checkpoint', ?, ?, ?, ?, ?, ?, ?, ?)",
            *map(self.text, (thread_id, ns, checkpoint["id"], parent_id)),
            kind,
            data,
            metadata_kind,
            said,
        )
        return self.address(thread_id, ns, checkpoint["id"])

    def text(self, name: str | None) -> bytes | None:
        """Names as bytes: a column of text does not take each of them."""
        return None if name is None else name.encode("utf-8", "surrogatepass")

    def make_room(self, thread_id: str, ns: str, checkpoint_id: str) -> None:
        pass

    def parent_of(self, config: RunnableConfig) -> str | None:
        latest = self.get_tuple(self.address(*self.place_of(config), None))
        return latest.checkpoint["id"] if latest else None

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread_id, ns = self.place_of(config)
        place = (thread_id, ns, config["configurable"]["checkpoint_id"])
        for position, (channel, (kind, data)) in enumerate(self.dumped(writes)):
            index = WRITES_IDX_MAP.get(channel, position)
            if not self.makes_way(place, task_id, index):
                continue
            self.ask(
                "INSERT INTO memory (kind, thread_id, checkpoint_ns, checkpoint_id, task_id,"
                " task_path, idx, channel, type, data) VALUES ('write', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *map(self.text, (*place, task_id, task_path)),
                index,
                self.text(channel),
                kind,
                data,
            )

    def dumped(self, writes: Sequence[tuple[str, Any]]) -> Iterable[tuple[str, tuple[str, bytes]]]:
        return ((channel, self.serde.dumps_typed(value)) for channel, value in writes)

    def makes_way(self, place: tuple[str, str, str], task_id: str, index: int) -> bool:
        """Whether there is room for a write."""
        return True

    def delete_thread(self, thread_id: str) -> None:
        self.ask(
            "DELETE FROM memory WHERE kind = 'checkpoint' AND thread_id = ?", self.text(thread_id)
        )

    # -- reading --------------------------------------------------------------------------

    newest_first = "rowid DESC"
    write_order = "rowid"

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = self.place_of(config)
        checkpoint_id = config["configurable"].get("checkpoint_id") or None
        rows = self.ask(
            f"SELECT {COLUMNS} FROM memory WHERE kind = 'checkpoint' AND thread_id = ?"
            " AND checkpoint_ns = ? AND (? IS NULL OR checkpoint_id = ?)"
            f" ORDER BY {self.latest_first} LIMIT 1",
            *map(self.text, (thread_id, ns, checkpoint_id, checkpoint_id)),
        )
        return self.tuple_of(rows[0]) if rows else None

    latest_first = "rowid DESC"

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        asked = config["configurable"] if config else {}
        bound = before["configurable"].get("checkpoint_id") if before else None
        thread_id = str(asked["thread_id"]) if config else None
        given = (thread_id, asked.get("checkpoint_ns"), asked.get("checkpoint_id") or None, bound)
        values = [value for name in given for value in [self.text(name)] * 2]
        rows = self.ask(
            f"SELECT {COLUMNS} FROM memory WHERE kind = 'checkpoint'"
            " AND (? IS NULL OR thread_id = ?) AND (? IS NULL OR checkpoint_ns = ?)"
            " AND (? IS NULL OR checkpoint_id = ?) AND (? IS NULL OR checkpoint_id < ?)"
            f" ORDER BY {self.newest_first}",
            *values,
        )
        found = [self.tuple_of(row) for row in self.first_of(rows, limit)]
        matching = [each for each in found if self.matches(each.metadata, filter or {})]
        yield from matching[: len(found) if limit is None else limit]

    def first_of(self, rows: list[Row], limit: int | None) -> list[Row]:
        """The rows that are looked at."""
        return rows if limit is None else rows[:limit]

    def matches(self, metadata: Any, filter: dict[str, Any]) -> bool:
        return all(metadata.get(key) == value for key, value in filter.items() if value is not None)

    def tuple_of(self, row: Row) -> CheckpointTuple:
        *names, kind, data, metadata_kind, metadata = row
        thread_id, ns, checkpoint_id, parent_id = map(self.name, names)
        writes = self.ask(
            "SELECT task_id, channel, type, data FROM memory WHERE kind = 'write'"
            f" AND thread_id = ? AND checkpoint_id = ? {self.in_namespace}"
            f" ORDER BY {self.write_order}",
            *map(self.text, (thread_id, checkpoint_id, *([ns] if self.in_namespace else []))),
        )
        return CheckpointTuple(
            self.address(thread_id, ns, checkpoint_id),
            self.serde.loads_typed((kind, data)),
            self.serde.loads_typed((metadata_kind, metadata)),
            self.address(thread_id, ns, parent_id) if parent_id else None,
            [
                (self.name(task), self.name(channel), self.serde.loads_typed((kind, value)))
                for task, channel, kind, value in writes
            ],
        )

    in_namespace = ""

    def name(self, stored: bytes | None) -> Any:
        return None if stored is None else stored.decode("utf-8", "surrogatepass")

    def place_of(self, config: RunnableConfig) -> tuple[str, str]:
        asked = config["configurable"]
        return str(asked["thread_id"]), asked.get("checkpoint_ns") or ""

    def address(self, thread_id: str, ns: str, checkpoint_id: str | None) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


@contextmanager
def opened(saver: type[OneTableSaver], folder: Path) -> Iterator[OneTableSaver]:
    """Open the saver on a database in a folder."""
    with closing(saver(folder / "memory.sqlite")) as one:
        # Nothing here looks at the disk, which would be waited for after each statement.
        one.ask("PRAGMA synchronous = OFF")
        yield one


ONE_TABLE = FirstSaver("one-table", OneTableSaver, opened)


@ONE_TABLE.mend("latest-by-row", "ordering/latest-is-greatest-id", "the latest is the last row")
class LatestById:
    latest_first = "checkpoint_id DESC, rowid DESC"


@ONE_TABLE.mend("listed-by-row", "ordering/list-newest-first", "ORDER BY rowid DESC")
class ListedById:
    newest_first = "checkpoint_id DESC, rowid DESC"


@ONE_TABLE.mend("writes-by-row", "ordering/writes-sorted", "ORDER BY rowid for pending writes")
class WritesSorted:
    write_order = "task_path, task_id, idx, rowid"


@ONE_TABLE.mend("no-key", "upsert/put-is-idempotent", "a second put of an id adds a second row")
class OneRowOfEach:
    def make_room(self, thread_id: str, ns: str, checkpoint_id: str) -> None:
        self.ask(
            "DELETE FROM memory WHERE kind = 'checkpoint' AND thread_id = ? AND checkpoint_ns = ?"
            " AND checkpoint_id = ?",
            *map(self.text, (thread_id, ns, checkpoint_id)),
        )


@ONE_TABLE.mend(
    "regular-writes-repeated",
    "upsert/regular-write-first-wins",
    "a regular write that is sent again is a second row",
)
class KeepsFirstWrite:
    def makes_way(self, place: tuple[str, str, str], task_id: str, index: int) -> bool:
        return super().makes_way(place, task_id, index) and (
            index < 0 or not self.ask(*of_write("SELECT 1", place, task_id, index))
        )


@ONE_TABLE.mend(
    "special-writes-repeated",
    "upsert/special-write-last-wins",
    "a special write that is sent again is a second row",
)
class KeepsLastSpecial:
    def makes_way(self, place: tuple[str, str, str], task_id: str, index: int) -> bool:
        if index < 0:
            self.ask(*of_write("DELETE", place, task_id, index))
        return super().makes_way(place, task_id, index)


def of_write(begin: str, place: tuple[str, str, str], task_id: str, index: int) -> tuple[Any, ...]:
    """A statement about one write, and its values."""
    names = [name.encode("utf-8", "surrogatepass") for name in (*place, task_id)]
    return (
        f"{begin} FROM memory WHERE kind = 'write' AND thread_id = ? AND checkpoint_ns = ?"
        " AND checkpoint_id = ? AND task_id = ? AND idx = ?",
        *names,
        index,
    )


@ONE_TABLE.mend(
    "parent-is-the-latest", "identity/parent", "the parent is whatever is the latest at that time"
)
class ParentFromConfig:
    def parent_of(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_id") or None


@ONE_TABLE.mend(
    "writes-stay", "deletion/no-ghosts", "a deleted thread's writes stay, for whoever comes next"
)
class DeletesWrites:
    def delete_thread(self, thread_id: str) -> None:
        name = thread_id.encode("utf-8", "surrogatepass")
        self.ask("DELETE FROM memory WHERE thread_id = ?", name)


@ONE_TABLE.mend(
    "limit-before-filter", "ordering/limit-is-a-prefix", "LIMIT is applied before the filter"
)
class FilterBeforeLimit:
    def first_of(self, rows: list[Row], limit: int | None) -> list[Row]:
        return rows


@ONE_TABLE.mend("none-matches-all", "filter/none", "a filter of None is taken for no filter")
class FilterForNone:
    def matches(self, metadata: Any, filter: dict[str, Any]) -> bool:
        return all(metadata.get(key) == value for key, value in filter.items())


@ONE_TABLE.mend(
    "writes-of-any-namespace", "pending-writes/scoped", "the namespace is not in their WHERE"
)
class WritesOfNamespace:
    in_namespace = "AND checkpoint_ns = ?"


@ONE_TABLE.mend(
    "half-a-batch",
    "serialization/unserializable-is-refused",
    "what comes before a value that cannot be serialized is stored",
)
class SerializesFirst:
    def dumped(self, writes: Sequence[tuple[str, Any]]) -> Iterable[tuple[str, tuple[str, bytes]]]:
        return list(super().dumped(writes))


@ONE_TABLE.mend("readable-by-all", "isolation/private-files", "other users can read the file")
class OwnersOnly:
    mode = 0o600
