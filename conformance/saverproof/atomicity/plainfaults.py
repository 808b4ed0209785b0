"""Faults by plain means, for scripts: a trigger, a second connection, a subclass, a cancelled task.

Each is a few lines, where ``saverproof_faults.standalone`` follows a plan to the letter. Whether
they lead to the same flaw is seen by running the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from saverproof.atomicity.attacks import Attack
from saverproof.programs.steps import Put
from saverproof.reproducing.source import quoted
from saverproof_faults import Event, Fault, FaultsError, Moment, Places, Plan, Shot, Statement
from saverproof_faults.standalone import source

_WRITES = re.compile(
    r"""\s*(?:(INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO|(DELETE)\s+FROM|(UPDATE)(?:\s+OR\s+\w+)?)
    \s+["`\[]?(\w+)["`\]]?(?=[\s(;]|$)""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class PlainFault:
    """``top`` stands at the top of the script, ``before`` and ``after`` around the operation.

    ``call`` is the operation's statement, in which ``{call}`` stands for the call as it would be.
    ``imports`` are import lines, ``raises`` says that the call is expected to raise.
    """

    imports: tuple[str, ...] = ("import sqlite3",)
    top: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    call: tuple[str, ...] = ("{call}",)
    after: tuple[str, ...] = ()
    raises: bool = True


def plain_faults(
    attack: Attack, places: Places, database: str, step: object
) -> Iterator[PlainFault]:
    """Ways to have the same thing fail, the plainest first."""
    plan = attack.plan
    if plan is None or attack.also is not None:
        return
    where = f"path + {quoted('/' + database)}"
    if plan.fault is Fault.CANCEL:
        if plan.place.index == 1:
            yield _CANCELLED
    elif plan.fault is Fault.LOCKED:
        yield _locked(where)
    elif plan.place.event is Event.COMMIT:
        yield _failing_commit(places)
    elif not isinstance(step, Put):
        trigger = _trigger(plan, places, where) or _at_statement(plan, places, where)
        if trigger is not None:
            yield trigger
    yield from _to_the_letter(plan, places)


def _abort(where: str, verb: str, table: str, condition: str) -> PlainFault:
    return PlainFault(
        imports=("import contextlib", "import sqlite3"),
        before=(
            f"with contextlib.closing(sqlite3.connect({where})) as other:",
            f"    other.execute({quoted(f'CREATE TRIGGER fault AFTER {verb} ON {table} ')}",
            f"        {quoted(f'WHEN {condition} ')}",
            """        "BEGIN SELECT RAISE(ABORT, 'on purpose'); END")""",
        ),
    )


def _trigger(plan: Plan, places: Places, where: str) -> PlainFault | None:
    """A trigger that lets as many rows of the table be written as the plan does."""
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


def _at_statement(plan: Plan, places: Places, where: str) -> PlainFault | None:
    """A trigger for what the driver raised before or after a statement, or within a batch."""
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


def _written(statement: Statement) -> tuple[str, str] | None:
    found = _WRITES.match(statement.sql)
    if found is None:
        return None
    insert, delete, _update, table = found.groups()
    return ("INSERT" if insert else "DELETE" if delete else "UPDATE"), table


def _locked(where: str) -> PlainFault:
    return PlainFault(
        top=(
            "connect = sqlite3.connect  # nobody is to wait for a lock",
            'sqlite3.connect = lambda *given, **more: connect(*given, **{**more, "timeout": 0})',
        ),
        before=(
            f"other = sqlite3.connect({where})",
            'other.execute("BEGIN IMMEDIATE")',
        ),
        after=("other.close()",),
    )


def _failing_commit(places: Places) -> PlainFault:
    """A connection whose commits fail while ``failing`` holds an error."""
    by_call = any(call.event is Event.COMMIT and call.sql == "commit()" for call in places.calls)
    body: tuple[str, ...] = (
        "    def commit(self):",
        "        if failing:",
        "            raise failing[0]",
        "        super().commit()",
    )
    if not by_call:
        body = (
            "    def cursor(self, *_): return super().cursor(Cursor)",
            "    def execute(self, *given): return self.cursor().execute(*given)",
            "class Cursor(sqlite3.Cursor):",
            "    def execute(self, sql, *given):",
            '        if failing and sql.upper().startswith("COMMIT"): raise failing[0]',
            "        return super().execute(sql, *given)",
        )
    return PlainFault(
        top=(
            "failing = []",
            "class Connection(sqlite3.Connection):",
            *body,
            "connect = sqlite3.connect",
            "sqlite3.connect = lambda *given, **more: connect("
            '*given, **{**more, "factory": Connection})',
        ),
        before=('failing.append(sqlite3.OperationalError("disk I/O error"))',),
        after=("failing.clear()",),
    )


_CANCELLED = PlainFault(
    imports=("import asyncio",),
    call=(
        "task = asyncio.create_task({coroutine})",
        "await asyncio.sleep(0)  # until it waits for the database",
        "task.cancel()",
        "await asyncio.wait([task])",
        "await asyncio.sleep(0.3)  # for work that was handed to a thread",
    ),
    raises=False,
)


def _to_the_letter(plan: Plan, places: Places) -> Iterator[PlainFault]:
    shot = Shot(plan, fired=1)
    try:
        text = source(shot, places)
    except FaultsError:
        return
    lines = [line for line in text.splitlines() if line]
    imports = tuple(line for line in lines if line.startswith("import ") and "," not in line)
    top = tuple(line for line in lines if line not in imports)
    if plan.fault is Fault.CANCEL:
        yield PlainFault(imports, top, call=("await cancelled({coroutine})",))
    else:
        yield PlainFault(imports, top, before=("Fault.arm()",), after=("Fault.heal()",))
