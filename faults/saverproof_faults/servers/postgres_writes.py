"""Triggers by which PostgreSQL fails at the n-th row that is written to a database.

To a session an exception of a trigger is like a full disk: the statement fails, and its transaction
is over. The triggers count by sequences, because no rollback undoes those.
"""

from __future__ import annotations

from typing import Any

from saverproof_faults.servers.kinds import Way

WAYS = {Way.REFUSE: 1, Way.END: 2, Way.CANCEL: 3, Way.LOCK: 4}
"""The number of each way of failing: sequences hold only numbers."""

_WATCH = """
CREATE SCHEMA saverproof;
CREATE SEQUENCE saverproof.passed;
CREATE SEQUENCE saverproof.armed MINVALUE 0;
SELECT setval('saverproof.armed', 0);
CREATE TABLE saverproof.written (number bigint, what text);
CREATE FUNCTION saverproof.pass() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  number bigint := nextval('saverproof.passed');
  armed bigint;
BEGIN
  SELECT last_value INTO armed FROM saverproof.armed;
  IF armed = 0 THEN
    INSERT INTO saverproof.written VALUES (number, TG_OP || ' on ' || TG_TABLE_NAME);
  ELSIF armed / 8 = number THEN
    CASE armed % 8
      WHEN 1 THEN
        RAISE EXCEPTION 'could not extend the file: No space left on device (refused on purpose)'
          USING ERRCODE = 'disk_full';
      WHEN 2 THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
        PERFORM pg_sleep(1);
      WHEN 3 THEN  -- as statement_timeout does
        PERFORM pg_cancel_backend(pg_backend_pid());
        PERFORM pg_sleep(1);
      ELSE
        RAISE EXCEPTION 'canceling statement due to lock timeout'
          USING ERRCODE = 'lock_not_available';
    END CASE;
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
"""
_TABLES = """
SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'saverproof')
"""
_TRIGGER = """
CREATE TRIGGER saverproof_pass BEFORE INSERT OR UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION saverproof.pass()
"""


def watch(connection: Any) -> None:
    """Begin to count (see ``RefusesWrites.watch_writes``). A locked table is not waited for."""
    tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
    with connection.transaction():
        # Set for the session, it would be left to whom a pooler gives the session next.
        connection.execute("SET LOCAL lock_timeout = '3s'")
        connection.execute(_WATCH)
        for table in tables:
            connection.execute(_TRIGGER.format(table=table))


def written(connection: Any) -> list[str]:
    """Return what was written (see ``RefusesWrites.written``)."""
    rows = connection.execute("SELECT what FROM saverproof.written ORDER BY number")
    return [what for (what,) in rows.fetchall()]


def fail(connection: Any, number: int, how: Way) -> None:
    """Let a row fail (see ``RefusesWrites.fail_write``)."""
    connection.execute("SELECT setval('saverproof.passed', 1, false)")
    connection.execute("SELECT setval('saverproof.armed', %s)", (8 * number + WAYS[how],))


def has_failed(connection: Any) -> bool:
    """Return whether the row has come (see ``RefusesWrites.has_failed``)."""
    row = connection.execute(
        "SELECT p.is_called AND p.last_value >= a.last_value / 8 "
        "FROM saverproof.passed AS p, saverproof.armed AS a"
    ).fetchone()
    return bool(row[0])
