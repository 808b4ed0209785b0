"""Count the bytes of what a PostgreSQL database keeps for its users."""

from __future__ import annotations

from typing import Any

from saverproof_faults.servers.server import ServerUnavailable

_OF_A_ROW = 28
"""Bytes that a row takes beside its values: its header (24) and its place in the page (4)."""
_TABLES = """
SELECT format('%I.%I', nspname, relname), array_agg(quote_ident(attname))
FROM pg_class
JOIN pg_namespace ON pg_namespace.oid = relnamespace
LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
WHERE relkind IN ('r', 'm') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
GROUP BY 1
"""
"""The query for all tables that have rows of their own, each with the names of its columns."""
_LARGE_OBJECTS = "SELECT coalesce(sum(length(lo_get(oid))), 0) FROM pg_largeobject_metadata"


def bytes_kept(connection: Any) -> int:
    """Return the bytes of all rows that a new transaction sees, as they are stored, and of large
    objects.

    Values that the server has compressed count as such. Nothing is counted in files: those shrink
    when the server cleans up, which depends on the time and on other users of the server.

    Raises:
        ServerUnavailable: the server refuses; the message is one line.
    """
    try:
        return sum(
            int(connection.execute(query).fetchone()[0])
            for query in (_LARGE_OBJECTS, *_queries(connection))
        )
    except connection.DatabaseError as error:
        said = error.diag.message_primary or type(error).__name__
        raise ServerUnavailable(f"PostgreSQL does not tell what it keeps: {said}") from None


def _queries(connection: Any) -> list[str]:
    tables = connection.execute(_TABLES).fetchall()
    return [_query(table, [column for column in columns if column]) for table, columns in tables]


def _query(table: str, columns: list[str]) -> str:
    """Return the query for the bytes of a table."""
    sizes = [f"coalesce(pg_column_size({column}), 0)" for column in columns]
    return f"SELECT coalesce(sum({' + '.join([str(_OF_A_ROW), *sizes])}), 0) FROM ONLY {table}"
