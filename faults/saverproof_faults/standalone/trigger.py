"""Source text that aborts a statement at one of its rows, for scripts without this package."""

import re

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.places import Places
from saverproof_faults.scripted import UNDECIDED
from saverproof_faults.standalone.frame import engine


def trigger(armed: ArmedPlan, places: Places) -> str:
    """Return the source of triggers that abort a statement at a row.

    Raises:
        FaultsError: the clean run has no such statement, as where a thread runs some by and by.
    """
    place = armed.plan.place
    wanted = next((found for found in places.statements if found.number == place.index), None)
    if wanted is None:
        raise FaultsError(f"found no statement {place.index} in the clean run, expected one")
    before = [found for found in places.statements if found.number < place.index and found.rows]
    written = _written(wanted.sql)
    if any(_written(statement.sql) is None for statement in before):
        written = None
    # The trigger is asked at every row, so that the rows of earlier statements are counted first.
    row = (place.row or 1) + sum(
        statement.rows
        for statement in before
        if written is None or _written(statement.sql) == written
    )
    prepare = 'connection.create_function("fires", 0, Fault.fires)\n' + (
        _EVERY_TABLE if written is None else _ONE_TABLE.format(verb=written[0], table=written[1])
    )
    fires = f"""
        def fires():
            Fault.calls += Fault.armed
            return Fault.armed and Fault.calls == {row}
    """
    return engine(prepare, methods=fires)


_ABORT = "WHEN fires() BEGIN SELECT RAISE(ABORT, 'raised on purpose'); END"

_ONE_TABLE = f"""\
try:
    connection.execute('CREATE TEMP TRIGGER fault AFTER {{verb}} ON "{{table}}" '
        "{_ABORT}")
except sqlite3.OperationalError as error:
    print(f"undecided: no write to {{table}} can be made to fail: {{{{error}}}}")
    raise SystemExit({UNDECIDED}) from error
"""

_EVERY_TABLE = f"""\
tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
for (table,) in connection.execute(tables).fetchall():
    for verb in ("INSERT", "UPDATE", "DELETE"):
        connection.execute(f'CREATE TEMP TRIGGER "{{table}}{{verb}}" AFTER {{verb}} ON "{{table}}" '
            "{_ABORT}")
"""

_WRITES = re.compile(
    r"""\s*(?:(INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO|(UPDATE)(?:\s+OR\s+\w+)?|(DELETE)\s+FROM)
    \s+["`\[]?(\w+)["`\]]?(?=[\s(;]|$)""",
    re.IGNORECASE | re.VERBOSE,
)


def _written(sql: str) -> tuple[str, str] | None:
    """Return the verb and the table of a statement, or None if they are not plain to see."""
    found = _WRITES.match(sql)
    if found is None or re.search(r"\bON\s+CONFLICT\b", sql, re.IGNORECASE):
        return None
    inserts, updates, _deletes, table = found.groups()
    verb = "INSERT" if inserts else "UPDATE" if updates else "DELETE"
    return verb, table.lower()
