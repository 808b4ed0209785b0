"""Count the rows and blocks that PostgreSQL goes through in one database.

A session reports what it has read to the statistics only when it ends. Therefore each count
waits for the sessions to end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from saverproof_faults.servers.server import ServerUnavailable

_TELLS = 15
"""The first major version whose statistics have a session's report at once."""
_PATIENCE_S = 10.0
"""Seconds for sessions to end after their clients have closed them."""
_PAUSE_S = 0.003
"""Seconds between two looks for sessions that still end."""
_SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
_COUNTS = {
    "unindexed": "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables",
    "rows": "SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes",
    "blocks": (
        "SELECT coalesce(sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) "
        "+ coalesce(idx_blks_hit, 0) + coalesce(toast_blks_read, 0) "
        "+ coalesce(toast_blks_hit, 0)), 0) FROM pg_statio_user_tables"
    ),
}
_PLANNED_AS_LARGE = """
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database());
  EXECUTE format('ALTER DATABASE %I SET cpu_tuple_cost = 100', current_database());
  EXECUTE format('ALTER DATABASE %I SET cpu_index_tuple_cost = 50', current_database());
END $$
"""
"""The statement that makes sessions use an index if there is one, and prefer the index that leads
to the fewest rows. In tables of a few blocks, the planner would read the whole table, or take the
index with the fewest blocks, and so hide that a query lacks an index. It is told that rows lie
apart, as in large tables.
"""


class PostgresWork:
    """A counter of the work in a database; see ``ServerWork``.

    Raises:
        ServerUnavailable: the server does not count, or its statistics come too late.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        version = connection.info.server_version // 10_000
        if version < _TELLS:
            raise ServerUnavailable(
                f"PostgreSQL {version} tells its counts of rows too late: "
                f"version {_TELLS} or newer is needed"
            )
        if self._one("SHOW track_counts") != "on":
            raise ServerUnavailable("PostgreSQL counts no rows: track_counts is off")
        connection.execute(_PLANNED_AS_LARGE)

    def begin(self) -> None:
        """Begin to count, once the planner knows the present sizes of the tables."""
        self._connection.execute("ANALYZE")
        # Flush this connection's own reads: a second later they would count as the store's.
        self._connection.execute("SELECT pg_stat_force_next_flush()")
        self._before = self._now()

    def done(self) -> Mapping[str, int]:
        """Return the counts since ``begin``, by name."""
        now = self._now()
        return {name: count - self._before[name] for name, count in now.items()}

    def _now(self) -> dict[str, int]:
        wait_until(
            lambda: not self._one(_SESSIONS),
            "PostgreSQL: a session is open although its store was closed: what it has read is not "
            "told before it ends",
        )
        return {name: int(self._one(query)) for name, query in _COUNTS.items()}

    def _one(self, query: str) -> Any:
        return self._connection.execute(query).fetchone()[0]


def wait_until(over: Callable[[], bool], otherwise: str) -> None:
    """Wait until ``over`` returns True.

    Raises:
        ServerUnavailable: that takes too long; ``otherwise`` is the message.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while not over():
        if time.monotonic() > deadline:
            raise ServerUnavailable(otherwise)
        time.sleep(_PAUSE_S)
