"""Triggers that have PostgreSQL itself fail at the n-th row that is written to a database.

An exception that a trigger raises is to the session what a full disk is: the statement fails, and
its transaction is over. Sequences keep count, since no rollback takes back what they gave.
"""

from __future__ import annotations

from typing import Any

from saverproof_faults.servers.kinds import Way

WAYS = {Way.REFUSE: 1, Way.END: 2, Way.CANCEL: 3, Way.LOCK: 4}
"""What stands for a way in a number: sequences hold nothing else."""

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
    """See ``RefusesWrites.watch_writes``. A table that somebody has locked is not waited for."""
    connection.execute("SET lock_timeout = '3s'")
    tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
    with connection.transaction():
        connection.execute(_WATCH)
        for table in tables:
            connection.execute(_TRIGGER.format(table=table))


def written(connection: Any) -> list[str]:
    """See ``RefusesWrites.written``."""
    rows = connection.execute("SELECT what FROM saverproof.written ORDER BY number")
    return [what for (what,) in rows.fetchall()]


def fail(connection: Any, number: int, how: Way) -> None:
    """See ``RefusesWrites.fail_write``."""
    connection.execute("SELECT setval('saverproof.passed', 1, false)")
    connection.execute("SELECT setval('saverproof.armed', %s)", (8 * number + WAYS[how],))


def has_failed(connection: Any) -> bool:
    """See ``RefusesWrites.has_failed``."""
    row = connection.execute(
        "SELECT p.is_called AND p.last_value >= a.last_value / 8 "
        "FROM saverproof.passed AS p, saverproof.armed AS a"
    ).fetchone()
    return bool(row[0])
