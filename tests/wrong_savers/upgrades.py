"""Savers that are right on stores of their own, and wrong on those of a release before them.

The older release is the plain saver (``SqliteReference``). What these write is marked, so that they
know what is not theirs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, ClassVar

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof.mistakes.reference.store import Blob, CheckpointRow, WriteRow
from tests.reference.database import TABLES, Database
from tests.reference.sqlite import WRITE, SqliteReference
from tests.wrong_savers.registry import wrong

FIRST_READ = "upgrade/first-read-waits-for-nobody"
"""What breaks with each change of the schema that is made when a store is opened."""
_PRESENT = 2
_MARK = "2:"


class NumberedDatabase(Database):
    """Writes the number of the format into the file, where nothing of an older one is in it."""

    busy_timeout_s = 1.0
    is_old = False

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        with closing(connection.execute("PRAGMA user_version")) as cursor:
            (number,) = cursor.fetchone()
        with closing(connection.execute("SELECT 1 FROM checkpoints LIMIT 1")) as cursor:
            is_empty = cursor.fetchone() is None
        self.is_old = number < _PRESENT and not is_empty
        if self.is_old:
            self.migrate(connection)
        elif number != _PRESENT:
            connection.execute(f"PRAGMA user_version = {_PRESENT}")

    def migrate(self, connection: sqlite3.Connection) -> None:
        """Bring an old store to the present form: there is nothing to do."""


class Later(SqliteReference):
    """The release after the plain saver."""

    database_class: ClassVar[type[Database]] = NumberedDatabase
    database: NumberedDatabase


@wrong("upgrade/reads-old-data", "the metadata of checkpoints that an older release put is empty")
class OldMetadataForgotten(Later):
    def _tuple(self, row: CheckpointRow, blobs: Any, writes: list[WriteRow]) -> CheckpointTuple:
        found = super()._tuple(row, blobs, writes)
        return found._replace(metadata={}) if self.database.is_old else found


@wrong("upgrade/writes-on-old-data", "put names a column that only new tables have")
class ColumnOfNewTables(Later):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        if self.database.is_old:
            raise sqlite3.OperationalError("table checkpoints has no column named format")
        super()._insert_checkpoint(row)


@wrong(FIRST_READ, "the first read of an old store migrates it")
class FirstReadMigrates(Later):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        if self.database.is_old:
            with self.database.writing():
                self.database.run("UPDATE writes SET path = path")
            self.database.is_old = False
        return super().get_tuple(config)


class HalfMigratingDatabase(NumberedDatabase):
    def migrate(self, connection: sqlite3.Connection) -> None:
        (writes,) = (table for table in TABLES if "writes" in table)
        connection.execute("ALTER TABLE writes RENAME TO old_writes")
        connection.execute(writes)
        connection.execute("INSERT INTO writes SELECT * FROM old_writes")
        connection.execute("DROP TABLE old_writes")
        connection.execute(f"PRAGMA user_version = {_PRESENT}")


@wrong(
    "upgrade/setup-on-old-store",
    "a table is copied in several transactions, and no more after",
    also=(FIRST_READ,),
)
class MigratesHalf(Later):
    database_class = HalfMigratingDatabase


class WideningDatabase(NumberedDatabase):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        with closing(connection.execute("PRAGMA table_info(writes)")) as cursor:
            names = [row[1] for row in cursor]
        if "at" not in names:
            connection.execute("ALTER TABLE writes ADD COLUMN at TEXT")


@wrong(
    "upgrade/old-workers-go-on",
    "a column is added, and older releases insert by position",
    also=(FIRST_READ,),
)
class ColumnInTheWay(Later):
    database_class = WideningDatabase

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        for row in rows:
            conflict = "REPLACE" if row.index < 0 else "IGNORE"
            values = (row.task_id, row.index, row.channel, *row.value, row.path)
            statement = f"INSERT OR {conflict} INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
            self.database.run(statement, *place, *values)


@wrong("upgrade/rollback", "checkpoints are stored in a format that older releases cannot read")
class NewFormat(Later):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        kind, data = row.checkpoint
        super()._insert_checkpoint(replace(row, checkpoint=(_MARK + kind, data)))

    def _tuple(self, row: CheckpointRow, blobs: Any, writes: list[WriteRow]) -> CheckpointTuple:
        kind, data = row.checkpoint
        return super()._tuple(
            replace(row, checkpoint=(kind.removeprefix(_MARK), data)), blobs, writes
        )


@wrong("upgrade/graph-resumes", "channel versions begin anew after those of an older release")
class VersionsBeginAnew(Later):
    def get_next_version(self, current: Any, channel: None) -> Any:
        is_own = str(current).endswith(".2")
        return f"{super().get_next_version(current if is_own else None, channel)}.2"


@wrong("upgrade/graph-resumes", "special writes of an older release are not replaced")
class OldAnswersStay(Later):
    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        if not self.database.is_old:
            super()._insert_writes(place, rows)
            return
        for row in rows:
            values = (row.task_id, row.index, row.channel, *row.value, row.path)
            self.database.run(f"INSERT OR IGNORE {WRITE}", *place, *values)


@wrong("upgrade/settings", "a type is stored without its cipher, and has today's when it is read")
class CipherOfToday(Later):
    def _dump(self, value: Any) -> Blob:
        kind, data = super()._dump(value)
        return kind.partition("+")[0], data

    def _load(self, blob: Blob) -> Any:
        kind, data = blob
        cipher = self.serde.dumps_typed("")[0].partition("+")[2]
        return super()._load((f"{kind}+{cipher}" if cipher else kind, data))


@wrong("upgrade/settings", "a checkpoint that cannot be decoded is none at all")
class UndecodableIsNone(Later):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        with suppress(Exception):
            return super().get_tuple(config)
        return None


STRICT = "upgrade/strict-msgpack"


def _lenient() -> Any:
    return JsonPlusSerializer(allowed_msgpack_modules=True)


@wrong(STRICT, "values are read with a serializer of its own that builds every class")
class ReadsLeniently(Later):
    def _load(self, blob: Blob) -> Any:
        # Encryption, and whatever is no msgpack, it leaves to the serializer that it was given.
        return _lenient().loads_typed(blob) if blob[0] == "msgpack" else super()._load(blob)


@wrong(STRICT, "the copy that with_allowlist makes reads with the serializer of its original")
class CopyReadsAsItsOriginal(Later):
    _reader: Any = None

    def _load(self, blob: Blob) -> Any:
        if blob[0] != "msgpack":
            return super()._load(blob)
        self._reader = self._reader or self.serde
        return self._reader.loads_typed(blob)

    def with_allowlist(self, extra_allowlist: Any) -> Any:
        self._reader = self._reader or self.serde
        return super().with_allowlist(extra_allowlist)


@wrong(STRICT, "with_allowlist returns the saver itself: another reader takes no other list")
class CopyIsItsOriginal(Later):
    def with_allowlist(self, extra_allowlist: Any) -> Any:
        return self


@wrong(STRICT, "put reads back what it has stored, and raises if the object is not built")
class ReadsBackWhatItPuts(Later):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        placed = super().put(config, checkpoint, metadata, new_versions)
        found = self.get_tuple(placed)
        for name, value in checkpoint["channel_values"].items():
            shown = found and found.checkpoint["channel_values"].get(name)
            if type(shown) is not type(value):
                raise ValueError(f"{name} was not stored")
        return placed


def _is_blocked(saver: Any, blob: Blob) -> bool:
    return blob[0] == "msgpack" and type(saver.serde.loads_typed(blob)) is not type(
        _lenient().loads_typed(blob)
    )


@wrong(STRICT, "writes of which the serializer does not build the object are left out")
class SkipsWhatIsNotBuilt(Later):
    def _tuple(self, row: CheckpointRow, blobs: Any, writes: list[WriteRow]) -> CheckpointTuple:
        built = [write for write in writes if not _is_blocked(self, write.value)]
        return super()._tuple(row, blobs, built)


@wrong(STRICT, "a listing raises at a write of which the serializer does not build the object")
class RaisesAtWhatIsNotBuilt(Later):
    def _load_write(self, blob: Blob) -> Any:
        if _is_blocked(self, blob):
            raise TypeError("this type is not allowed")
        return super()._load_write(blob)
