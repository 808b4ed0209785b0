"""Makes faults of SQLite by plain means: a trigger, a lock, a connection or cursor that fails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from saverproof.families.atomicity.scripts.plain_fault import PlainFault, after_passing, failing
from saverproof.families.atomicity.trials.disk import FAILURES
from saverproof.scripts.source import quoted
from saverproof_faults import Event, Fault, Lasts, Moment, Places, Plan, Statement
from saverproof_faults.kinds import INTERRUPTIONS

_WRITES = re.compile(
    r"""\s*(?:(INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO|(DELETE)\s+FROM|(UPDATE)(?:\s+OR\s+\w+)?)
    \s+["`\[]?(\w+)["`\]]?(?=[\s(;]|$)""",
    re.IGNORECASE | re.VERBOSE,
)


def path_of(database: str) -> str:
    """Return the source for the path of the database in a script's store."""
    return f"path + {quoted('/' + database)}"


def _abort(where: str, verb: str, table: str, condition: str) -> PlainFault:
    return PlainFault(
        before=(
            f"trigger = {quoted(f'CREATE TRIGGER fault AFTER {verb} ON {table} WHEN ')}",
            "trigger += " + quoted(f"{condition} BEGIN SELECT RAISE(ABORT, 'fault'); END"),
            f"with contextlib.closing(sqlite3.connect({where})) as other:",
            "    other.execute(trigger)",
        ),
        uses_store=True,
    )


def row_trigger(plan: Plan, places: Places, where: str) -> PlainFault | None:
    """Return a fault by a trigger that fires after as many rows of the table as the plan lets
    through.
    """
    if plan.fault is not Fault.TRIGGER_ABORT:
        return None
    return _before_row(plan.place.index, plan.place.row or 1, places, where)


def _before_row(number: int, row: int, places: Places, where: str) -> PlainFault | None:
    statements = [s for s in places.statements if s.number <= number]
    found = _written(statements[-1]) if statements else None
    if found is None:
        return None
    verb, table = found
    rows = row + sum(s.rows for s in statements[:-1] if _written(s) == found)
    others = sum(s.rows for s in places.statements if _written(s) == found)
    if verb == "INSERT":
        return _abort(where, verb, table, f"(SELECT count(*) FROM {table}) = {rows}")
    if verb == "DELETE":
        return _abort(where, verb, table, f"(SELECT count(*) FROM {table}) = {others - rows}")
    return None


def statement_trigger(plan: Plan, places: Places, where: str) -> PlainFault | None:
    """Return a fault by a trigger, in place of an error that the driver raises before or after a
    statement, or within a batch.
    """
    place = plan.place
    if plan.fault is not Fault.RAISE or place.event is not Event.STATEMENT:
        return None
    call = next(
        (c for c in places.calls if c.event is place.event and c.index == place.index), None
    )
    if call is None:
        return None
    same = [s for s in places.statements if s.sql == call.sql]
    if place.moment is Moment.BEFORE:
        return _before_row(same[0].number, 1, places, where) if same else None
    if place.row is not None and place.row < len(same):
        return _before_row(same[place.row].number, 1, places, where)
    return None


def failing_statement(plan: Plan, places: Places, first: str = "") -> Iterator[PlainFault]:
    """Return a fault by a cursor that fails at one of its statements.

    ``first`` is the name of a function that is called before the statement raises.
    """
    place = plan.place
    executed = [call for call in places.calls if not call.sql.endswith("()")]
    wanted = [c for c in executed if c.event is place.event and c.index == place.index]
    if not wanted or place.row is not None or plan.lasts is Lasts.ONWARDS:
        return
    after = place.moment is Moment.AFTER
    fail = (f"        {failing(f'raise {_error(plan)}', first)}",)
    many = any(call.rows is not None for call in executed)
    call = "return self.cursor()"
    yield PlainFault(
        top=(
            "left = []  # True where a statement to come fails; the last is for the next one",
            "class Cursor(sqlite3.Cursor):",
            "    def execute(self, *given, run=sqlite3.Cursor.execute):",
            *(() if after else fail),
            "        run(self, *given)",
            *(fail if after else ()),
            "        return self",
            *((f"    def executemany(self, *given): {_MANY}",) if many else ()),
            "class Connection(sqlite3.Connection):",
            "    def cursor(self, *_): return super().cursor(Cursor)",
            f"    def execute(self, *given): {call}.execute(*given)",
            *((f"    def executemany(self, *given): {call}.executemany(*given)",) if many else ()),
            *_CONNECTING,
        ),
        before=(f"left.extend({after_passing(executed.index(wanted[0]), first)})",),
    )


def _error(plan: Plan) -> str:
    if plan.error in INTERRUPTIONS:
        return plan.error
    said = plan.error.partition(": ")[2]
    return "sqlite3.OperationalError" + (f"({quoted(said)})" if said else "")


_MANY = "return self.execute(*given, run=sqlite3.Cursor.executemany)"
_CONNECTING = (
    "connect = sqlite3.connect",
    'sqlite3.connect = lambda *given, **more: connect(*given, **{**more, "factory": Connection})',
)


def _written(statement: Statement) -> tuple[str, str] | None:
    found = _WRITES.match(statement.sql)
    if found is None:
        return None
    insert, delete, _update, table = found.groups()
    return ("INSERT" if insert else "DELETE" if delete else "UPDATE"), table


def locked(where: str) -> PlainFault:
    """Return a fault in which another connection holds the write lock."""
    return PlainFault(
        top=(
            "connect = sqlite3.connect  # without waiting for locks",
            'sqlite3.connect = lambda *given, **more: connect(*given, **{**more, "timeout": 0})',
        ),
        before=(
            f"other = sqlite3.connect({where})",
            'other.execute("BEGIN IMMEDIATE")',
        ),
        after=("other.close()",),
        uses_store=True,
    )


def held_by_another(where: str) -> PlainFault:
    """Return a fault in which another process has the database for itself, as during a backup."""
    return PlainFault(
        top=(
            "HOLDS = (",
            '    "import sqlite3, sys; other = sqlite3.connect(sys.argv[1]); "',
            """    "other.execute('BEGIN EXCLUSIVE'); print('held', flush=True); \"""",
            '    "sys.stdin.read()"',
            ")",
        ),
        before=(
            f"command = [sys.executable, '-c', HOLDS, {where}]",
            "piped = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)",
            "other = subprocess.Popen(command, **piped)",
            'assert other.stdout.readline(), "the other process cannot have it for itself"',
        ),
        after=("other.communicate()  # which ends it",),
        uses_store=True,
    )


def failing_commit(plan: Plan, places: Places, first: str = "") -> PlainFault:
    """Return a fault by a connection that fails at one of its commits.

    ``first`` is the name of a function that is called before the commit raises.
    """
    by_call = any(call.event is Event.COMMIT and call.sql == "commit()" for call in places.calls)
    fail = failing(f"raise {_error(plan)}", first)
    body: tuple[str, ...] = (
        "    def commit(self):",
        f"        {fail}",
        "        super().commit()",
    )
    if not by_call:
        body = (
            "    def cursor(self, *_): return super().cursor(Cursor)",
            "    def execute(self, *given): return self.cursor().execute(*given)",
            "class Cursor(sqlite3.Cursor):",
            "    def execute(self, sql, *given):",
            '        if sql.upper().startswith("COMMIT"):',
            f"            {fail}",
            "        return super().execute(sql, *given)",
        )
    return PlainFault(
        top=(
            "left = []  # True where a commit to come fails; the last is for the next one",
            "class Connection(sqlite3.Connection):",
            *body,
            *_CONNECTING,
        ),
        before=(f"left.extend({after_passing(plan.place.index - 1, first)})",),
    )


def failing_io(plan: Plan) -> PlainFault:
    """Return a fault below SQLite. The script imports it, since it would take too many lines."""
    extent = ", Extent.ONWARDS" if plan.lasts is Lasts.ONWARDS else ""
    failure = FAILURES[plan.fault].name
    return PlainFault(
        top=("disk = IoWatch(tempfile.gettempdir())", "disk.__enter__()  # until the script ends"),
        before=(f"disk.arm(IoFault({plan.place.index}, Failure.{failure}{extent}))",),
        after=("disk.disarm()",),
    )
