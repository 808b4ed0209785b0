"""The tables, and the atomic steps that bring an older database up to date."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields

from saverproof_savers.errors import SchemaError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class TableNames:
    """The names of the four tables, each a plain SQL identifier.

    checkpoints has one row for each checkpoint, writes one for each pending write, values one for
    each channel value (stored once per version), and migrations one for each step of the schema
    that was applied.
    """

    checkpoints: str = "checkpoints"
    writes: str = "checkpoint_writes"
    values: str = "checkpoint_values"
    migrations: str = "checkpoint_migrations"

    def __post_init__(self) -> None:
        for field in fields(self):
            name = getattr(self, field.name)
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise ValueError(
                    f"table name for {field.name}: found {name!r}, expected letters, digits and "
                    "underscores, not starting with a digit, at most 63"
                )
            if name.lower().startswith("sqlite_"):
                raise ValueError(
                    f"table name for {field.name}: {name!r} is reserved (sqlite_ is SQLite's own)"
                )
        if len({name.lower() for name in astuple(self)}) < len(fields(self)):
            raise ValueError(f"table names must differ: {self}")

    @classmethod
    def prefixed(cls, prefix: str) -> "TableNames":
        """Return the names ``prefix`` + checkpoints, writes, values and migrations."""
        return cls(*(f"{prefix}{field.name}" for field in fields(cls)))


def _create_tables(names: TableNames) -> list[str]:
    return [
        f"""CREATE TABLE "{names.checkpoints}" (
            thread_id TEXT NOT NULL,
            checkpoint_ns TEXT NOT NULL DEFAULT '',
            checkpoint_id TEXT NOT NULL,
            parent_checkpoint_id TEXT,
            type TEXT NOT NULL,
            checkpoint BLOB NOT NULL,
            channels TEXT NOT NULL,
            metadata TEXT NOT NULL,
            created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
            PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
        )""",
        f"""CREATE TABLE "{names.writes}" (
            thread_id TEXT NOT NULL,
            checkpoint_ns TEXT NOT NULL DEFAULT '',
            checkpoint_id TEXT NOT NULL,
            task_id TEXT NOT NULL,
            task_path TEXT NOT NULL DEFAULT '',
            idx INTEGER NOT NULL,
            channel TEXT NOT NULL,
            type TEXT NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        )""",
        f"""CREATE TABLE "{names.values}" (
            value_id INTEGER PRIMARY KEY,
            thread_id TEXT NOT NULL,
            checkpoint_ns TEXT NOT NULL DEFAULT '',
            channel TEXT NOT NULL,
            version NOT NULL,
            type TEXT NOT NULL,
            value BLOB NOT NULL
        )""",
    ]


def _add_run_id(names: TableNames) -> list[str]:
    return [
        f'ALTER TABLE "{names.checkpoints}" ADD COLUMN run_id TEXT',
        f"""UPDATE "{names.checkpoints}" SET run_id = json_extract(metadata, '$.run_id')
            WHERE CASE WHEN json_valid(metadata)
            THEN json_type(metadata, '$.run_id') = 'text' END""",
        f"""CREATE INDEX "{names.checkpoints}_by_run" ON "{names.checkpoints}" (run_id)
            WHERE run_id IS NOT NULL""",
    ]


Migration = Callable[[TableNames], list[str]]

MIGRATIONS: Sequence[Migration] = (_create_tables, _add_run_id)
"""Step n brings a database of version n to version n + 1. Steps are only ever added."""


def schema_version(cursor: sqlite3.Cursor, names: TableNames) -> int:
    """Return the version of the tables in this database.

    0 if none of this saver's tables are there.
    """
    rows = cursor.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    found = {str(name).lower() for (name,) in rows}
    if names.migrations.lower() in found:
        query = f'SELECT coalesce(max(version), 0) FROM "{names.migrations}"'
        return int(cursor.execute(query).fetchone()[0])
    foreign = sorted(
        {names.checkpoints.lower(), names.writes.lower(), names.values.lower()} & found
    )
    if foreign:
        raise SchemaError(
            f"table {foreign[0]!r} is there already and was not made by this saver (no table "
            f"{names.migrations!r} beside it); choose other table names, or bring a database of "
            "langgraph-checkpoint-sqlite over with saverproof_savers.import_official"
        )
    return 0


def is_current(
    cursor: sqlite3.Cursor,
    names: TableNames,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> bool:
    """Return whether the tables need no migration.

    Raises:
        SchemaError: they are newer than the code.
    """
    version = schema_version(cursor, names)
    if version > len(migrations):
        raise SchemaError(
            f"the tables have schema version {version}, and this version of the saver knows up to "
            f"{len(migrations)}; update saverproof"
        )
    return version == len(migrations)


def migrate(
    cursor: sqlite3.Cursor,
    names: TableNames,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> None:
    """Apply the missing steps. The caller's transaction makes them atomic."""
    if is_current(cursor, names, migrations):
        return
    cursor.execute(
        f"""CREATE TABLE IF NOT EXISTS "{names.migrations}" (
            version INTEGER PRIMARY KEY,
            applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        )"""
    )
    for version in range(schema_version(cursor, names), len(migrations)):
        for statement in migrations[version](names):
            cursor.execute(statement)
        cursor.execute(f'INSERT INTO "{names.migrations}" (version) VALUES (?)', (version + 1,))
