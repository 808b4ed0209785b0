"""Count the rows that MariaDB or MySQL goes through in one database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saverproof_faults.servers.server import ServerUnavailable

_SOURCES = {
    "userstat": (
        "SELECT coalesce(sum(rows_read), 0) FROM information_schema.table_statistics "
        "WHERE table_schema = %s",
        "SELECT coalesce(sum(rows_read), 0) FROM information_schema.index_statistics "
        "WHERE table_schema = %s",
    ),
    "performance_schema": (
        "SELECT coalesce(sum(count_read), 0) FROM "
        "performance_schema.table_io_waits_summary_by_table WHERE object_schema = %s",
        "SELECT coalesce(sum(count_read), 0) FROM "
        "performance_schema.table_io_waits_summary_by_index_usage "
        "WHERE object_schema = %s AND index_name IS NOT NULL",
    ),
}
"""Variable that makes the server count -> the queries for all rows read, and for those read by an
index. MariaDB has both variables, MySQL only the second.
"""


class MariaDbWork:
    """A counter of the work in the database ``name``; see ``ServerWork``.

    ``run`` executes a statement.

    Raises:
        ServerUnavailable: the server does not count.
    """

    def __init__(self, run: Callable[..., Sequence[tuple[Any, ...]]], name: str) -> None:
        self._run, self._name = run, name
        shown = "SHOW GLOBAL VARIABLES WHERE variable_name IN (%s, %s) AND value = 'ON'"
        found = {name for name, _ in run(shown, *_SOURCES)}
        on = [source for source in _SOURCES if source in found]
        if not on:
            raise ServerUnavailable(
                f"MariaDB counts no rows: its variables {' and '.join(_SOURCES)} are off"
            )
        self._queries = _SOURCES[on[0]]

    def begin(self) -> None:
        """Note the server's counts now; ``done`` subtracts them."""
        self._before = self._now()

    def done(self) -> Mapping[str, int]:
        """Return the counts since ``begin``, by name."""
        every, indexed = (now - then for now, then in zip(self._now(), self._before, strict=True))
        return {"unindexed": max(every - indexed, 0), "rows": indexed}

    def _now(self) -> list[int]:
        return [int(self._run(query, self._name)[0][0]) for query in self._queries]
