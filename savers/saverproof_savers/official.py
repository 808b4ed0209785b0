"""Read a database made by langgraph-checkpoint-sqlite, 2.x or 3.x, without changing it."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers.errors import SchemaError, UndecodableError, explain

_CHECKPOINT_COLUMNS = {
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
}
_WRITE_COLUMNS = {
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "task_id",
    "idx",
    "channel",
    "type",
    "value",
}


@dataclass(frozen=True, slots=True)
class OfficialCheckpoint:
    """One checkpoint of the source, decoded, with its values."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    parent_id: str | None
    checkpoint: Mapping[str, Any]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OfficialWrite:
    """One pending write of the source, decoded."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    task_id: str
    task_path: str
    index: int
    channel: str
    value: Any


class OfficialDatabase:
    """An open source. It reads one thread at a time."""

    def __init__(
        self, connection: sqlite3.Connection, where: str, serde: SerializerProtocol
    ) -> None:
        self._connection = connection
        self._where = where
        self._serde = serde
        self._metadata_serde = JsonPlusSerializer()
        self._task_path = self._check_tables()

    def _check_tables(self) -> str:
        """Return the expression for the task path, which databases made by 2.x lack."""
        found = {}
        for table, columns in (("checkpoints", _CHECKPOINT_COLUMNS), ("writes", _WRITE_COLUMNS)):
            rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            found[table] = {name for (name,) in rows}
            if not columns <= found[table]:
                raise SchemaError(
                    f"{self._where}: found no table {table!r} with the columns {sorted(columns)}, "
                    "which a database of langgraph-checkpoint-sqlite has"
                )
        return "task_path" if "task_path" in found["writes"] else "''"

    def thread_ids(self) -> list[str]:
        """Return every thread that has a checkpoint or a write."""
        rows = self._connection.execute(
            "SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes ORDER BY 1"
        )
        return [thread_id for (thread_id,) in rows]

    def checkpoints(self, thread_id: str) -> Iterator[OfficialCheckpoint]:
        """Yield the thread's checkpoints, oldest first.

        Raises:
            UndecodableError: one cannot be decoded.
        """
        rows = self._connection.execute(
            """SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
                FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id, checkpoint_ns""",
            (thread_id,),
        )
        for checkpoint_ns, checkpoint_id, parent_id, kind, data, metadata in rows:
            with self._decoding(f"checkpoint {checkpoint_id} of thread {thread_id!r}"):
                found = OfficialCheckpoint(
                    thread_id,
                    checkpoint_ns,
                    checkpoint_id,
                    parent_id or None,
                    self._serde.loads_typed((kind, data)),
                    self._metadata(metadata),
                )
            yield found

    def writes(self, thread_id: str) -> Iterator[OfficialWrite]:
        """Yield the thread's pending writes, in LangGraph's order.

        Raises:
            UndecodableError: one cannot be decoded.
        """
        rows = self._connection.execute(
            f"""SELECT checkpoint_ns, checkpoint_id, task_id, {self._task_path}, idx, channel,
                type, value FROM writes WHERE thread_id = ? ORDER BY 4, 3, 5""",
            (thread_id,),
        )
        for checkpoint_ns, checkpoint_id, task_id, path, index, channel, kind, data in rows:
            place = f"write {index} of task {task_id} at checkpoint {checkpoint_id}"
            with self._decoding(f"{place} of thread {thread_id!r}"):
                value = self._serde.loads_typed((kind, data))
            yield OfficialWrite(
                thread_id, checkpoint_ns, checkpoint_id, task_id, path, index, channel, value
            )

    def _metadata(self, data: bytes | str | None) -> Mapping[str, Any]:
        if data is None:
            return {}
        text = data.encode("utf-8") if isinstance(data, str) else data
        metadata: Mapping[str, Any] = self._metadata_serde.loads_typed(("json", text))
        return metadata

    @contextmanager
    def _decoding(self, place: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            explain(error, self._where)
            raise
        except Exception as error:
            raise UndecodableError(
                f"{self._where}: {place} cannot be decoded: {type(error).__name__}: {error}"
            ) from error


@contextmanager
def open_official(
    path: str | os.PathLike[str], serde: SerializerProtocol
) -> Iterator[OfficialDatabase]:
    """Open the source for reading. Neither the file nor its folder is changed.

    Raises:
        sqlite3.Error, SchemaError: the source cannot be read; the text names the file.
        RuntimeError: another process changed the file meanwhile, so that what was read may be torn.
    """
    text = os.fspath(path)
    try:
        with tempfile.TemporaryDirectory() as folder:
            uri, is_frozen = _how_to_open(text, folder)
            before = _fingerprint(text)
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                connection.execute("BEGIN")
                yield OfficialDatabase(connection, text, serde)
            if is_frozen and _fingerprint(text) != before:
                raise RuntimeError(
                    f"{text}: the file changed while it was read; stop what writes to it first"
                )
    except sqlite3.Error as error:
        explain(error, text)
        raise


def _how_to_open(path: str, folder: str) -> tuple[str, bool]:
    """Return a URI for reading without a trace, and whether the file must not change meanwhile.

    Plain read-only mode is not enough: it leaves two files beside a database in WAL mode.
    """
    sides = [side for side in ("-wal", "-journal") if _has_content(path + side)]
    if not sides:
        return f"{_uri(path)}?mode=ro&immutable=1", True
    if os.path.exists(path + "-shm"):
        return f"{_uri(path)}?mode=ro", False
    # A crash left this journal. SQLite would repair the file on opening, so it gets a copy to
    # repair.
    copy = os.path.join(folder, "source.db")
    for side in ("", *sides):
        shutil.copyfile(path + side, copy + side)
    return f"{_uri(copy)}?mode=rw", True


def _uri(path: str) -> str:
    return f"file:{quote(os.fsencode(os.path.abspath(path)))}"


def _has_content(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _fingerprint(path: str) -> tuple[int, ...]:
    found: list[int] = []
    for side in ("", "-wal", "-journal"):
        if os.path.exists(path + side):
            status = os.stat(path + side)
            found += (status.st_size, status.st_mtime_ns)
    return tuple(found)
