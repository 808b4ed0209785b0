"""Count the bytes of what a database of MariaDB or MySQL keeps for its users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

_OF_A_ROW = 18
"""Bytes that InnoDB takes beside the values of a row: header 5, transaction 6, rollback 7."""
_COLUMNS = """
SELECT table_name, column_name
FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = %s AND table_type = 'BASE TABLE' AND extra NOT LIKE '%%VIRTUAL%%'
"""
"""The query for all columns that are stored."""


def bytes_kept(run: Callable[..., Sequence[tuple[Any, ...]]], name: str) -> int:
    """Return the bytes of all rows of the database ``name``, without compression.

    ``run`` executes a statement. Nothing is asked of ``information_schema.tables``: its sizes are
    estimates, in pages.
    """
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for table, column in run(_COLUMNS, name):
        columns[table].append(column)
    queries = (_query(name, table, found) for table, found in columns.items())
    return sum(int(run(query)[0][0]) for query in queries)


def _query(name: str, table: str, columns: Sequence[str]) -> str:
    """Return the query for the bytes of a table."""
    sizes = [f"coalesce(octet_length({_quoted(column)}), 0)" for column in columns]
    whole = " + ".join([str(_OF_A_ROW), *sizes])
    return f"SELECT coalesce(sum({whole}), 0) FROM {_quoted(name)}.{_quoted(table)}"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
