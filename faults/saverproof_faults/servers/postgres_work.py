"""The rows and blocks that PostgreSQL goes through in one database.

A session tells the server's statistics when it ends, so that whoever asks waits for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from saverproof_faults.servers.server import ServerUnavailable

_TELLS = 15
"""The first major version in which what a session has told is known at once."""
_PATIENCE_S = 10.0
"""Seconds for sessions to end after their clients have closed them."""
_PAUSE_S = 0.003
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
END $$
"""
"""A table of a few blocks is best gone through as a whole. So that it shows whether an index leads
to what is asked for, sessions go another way if there is one.
"""


class PostgresWork:
    """Counts the work of a database; see ``ServerWork``.

    Raises:
        ServerUnavailable: the server does not count, or tells too late.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        version = connection.info.server_version // 10_000
        if version < _TELLS:
            raise ServerUnavailable(
                f"PostgreSQL {version} counts rows, and tells so late: "
                f"version {_TELLS} or newer is needed"
            )
        if self._one("SHOW track_counts") != "on":
            raise ServerUnavailable("PostgreSQL counts no rows: track_counts is off")
        connection.execute(_PLANNED_AS_LARGE)

    def begin(self) -> None:
        """Count from here, with what the planner is told of tables in use."""
        self._connection.execute("ANALYZE")
        self._before = self._now()

    def done(self) -> Mapping[str, int]:
        """Return what was done since ``begin``."""
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
    """Wait until something is over.

    Raises:
        ServerUnavailable: it takes too long; ``otherwise`` says what has not happened.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while not over():
        if time.monotonic() > deadline:
            raise ServerUnavailable(otherwise)
        time.sleep(_PAUSE_S)
