"""Triggers by which MariaDB or MySQL fails at the n-th row that is written to a database.

Their tables are in a database of their own. The table that counts has an engine without
transactions, so that no rollback undoes the counting. The table that notes what was written has
transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from saverproof_faults.servers.kinds import Way

_BESIDE = (
    "CREATE DATABASE {beside}",
    "CREATE TABLE {beside}.state (place VARCHAR(64) PRIMARY KEY, passed BIGINT, armed BIGINT, "
    "how TEXT) ENGINE = MyISAM",
    "CREATE TABLE {beside}.written (place VARCHAR(64), number BIGINT, what TEXT) ENGINE = InnoDB",
    """
    CREATE PROCEDURE {beside}.pass(here TEXT, what TEXT)
    BEGIN
      DECLARE way TEXT DEFAULT '';
      UPDATE {beside}.state SET passed = passed + 1 WHERE place = here;
      SELECT how INTO way FROM {beside}.state WHERE place = here AND armed IN (0, passed);
      IF way = 'none' THEN
        INSERT INTO {beside}.written
          SELECT here, passed, what FROM {beside}.state WHERE place = here;
      ELSEIF way = 'refuse' THEN
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114,
          MESSAGE_TEXT = 'The table is full (refused on purpose)';
      ELSEIF way = 'lock' THEN
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205,
          MESSAGE_TEXT = 'Lock wait timeout exceeded; try restarting transaction';
      ELSEIF way = 'cancel' THEN
        KILL QUERY CONNECTION_ID();
      ELSEIF way = 'end' THEN
        KILL CONNECTION CONNECTION_ID();
      END IF;
    END
    """,
)
_TABLES = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = %s AND table_type = 'BASE TABLE'"
)
_TRIGGER = """
CREATE TRIGGER `{place}`.saverproof_{number}_{event} BEFORE {event} ON `{place}`.`{table}`
FOR EACH ROW CALL {beside}.pass('{place}', '{event} on {table}')
"""


class FailingRows:
    """A counter of rows that can also make them fail, in one database at a time.

    ``run`` executes a statement.
    """

    WAYS: ClassVar = (Way.REFUSE, Way.END, Way.CANCEL, Way.LOCK)

    def __init__(self, run: Callable[..., Sequence[tuple[Any, ...]]]) -> None:
        self._run = run
        self._beside = ""

    def watch(self, place: str) -> None:
        """Begin to count (see ``RefusesWrites.watch_writes``). A locked table is not waited for."""
        self._run("SET lock_wait_timeout = 3")
        if not self._beside:
            self._beside = f"`{place}_beside`"
            for statement in _BESIDE:
                self._run(statement.format(beside=self._beside))
        for number, (table,) in enumerate(self._run(_TABLES, place)):
            for event in ("INSERT", "UPDATE", "DELETE"):
                names = {"place": place, "table": table, "event": event, "number": number}
                self._run(_TRIGGER.format(beside=self._beside, **names))
        self.fail(place, 0, "none")

    def written(self, place: str) -> list[str]:
        """Return what was written (see ``RefusesWrites.written``)."""
        query = f"SELECT what FROM {self._beside}.written WHERE place = %s ORDER BY number"
        return [what for (what,) in self._run(query, place)]

    def fail(self, place: str, number: int, how: str) -> None:
        """Let a row fail (see ``RefusesWrites.fail_write``)."""
        self._run(f"REPLACE INTO {self._beside}.state VALUES (%s, 0, %s, %s)", place, number, how)

    def has_failed(self, place: str) -> bool:
        """Return whether the row has come (see ``RefusesWrites.has_failed``)."""
        query = f"SELECT passed >= armed FROM {self._beside}.state WHERE place = %s"
        return bool(self._run(query, place)[0][0])

    def close(self) -> None:
        """Remove the database with the triggers' tables."""
        if self._beside:
            self._run(f"DROP DATABASE IF EXISTS {self._beside}")
