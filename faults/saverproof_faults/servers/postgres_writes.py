"""Triggers that have PostgreSQL itself fail at the n-th row that is written to a database.

An exception that a trigger raises is to the session what a full disk is: the statement fails, and
its transaction is over. Sequences keep count, since no rollback takes back what they gave.
"""

from __future__ import annotations

from typing import Any

REFUSE, END = "refuse", "end"
_SIGNS = {REFUSE: 1, END: -1}

_WATCH = """
CREATE SCHEMA saverproof;
CREATE SEQUENCE saverproof.passed;
CREATE SEQUENCE saverproof.armed MINVALUE -1000000000 START 1;
SELECT setval('saverproof.armed', 0);
CREATE TABLE saverproof.written (number bigint, what text);
CREATE FUNCTION saverproof.pass() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  number bigint := nextval('saverproof.passed');
  armed bigint;
BEGIN
  SELECT last_value INTO armed FROM saverproof.armed;
  IF number = armed THEN
    RAISE EXCEPTION 'could not extend the file: No space left on device (refused on purpose)'
      USING ERRCODE = 'disk_full';
  ELSIF number = -armed THEN
    PERFORM pg_terminate_backend(pg_backend_pid());
    PERFORM pg_sleep(1);
  ELSIF armed = 0 THEN
    INSERT INTO saverproof.written VALUES (number, TG_OP || ' on ' || TG_TABLE_NAME);
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


def fail(connection: Any, number: int, how: str) -> None:
    """See ``RefusesWrites.fail_write``."""
    connection.execute("SELECT setval('saverproof.passed', 1, false)")
    connection.execute("SELECT setval('saverproof.armed', %s)", (_SIGNS[how] * number,))


def has_failed(connection: Any) -> bool:
    """See ``RefusesWrites.has_failed``."""
    row = connection.execute(
        "SELECT p.is_called AND p.last_value >= abs(a.last_value) "
        "FROM saverproof.passed AS p, saverproof.armed AS a"
    ).fetchone()
    return bool(row[0])
