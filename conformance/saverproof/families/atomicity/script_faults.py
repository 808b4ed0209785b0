"""Faults by plain means, for scripts: a trigger, a second connection, a subclass, a cancelled task.

Each is a few lines, where ``saverproof_faults.standalone`` follows a plan to the letter. Whether
they lead to the same flaw is seen by running the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from saverproof.families.atomicity.disk import FAILURES
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.files import CALL_FAILURES
from saverproof.families.atomicity.server import WAYS
from saverproof.scripts.source import quoted
from saverproof.steps.definitions import Put
from saverproof_faults import (
    ArmedPlan,
    Event,
    Fault,
    FaultsError,
    Lasts,
    Moment,
    Places,
    Plan,
    Statement,
)
from saverproof_faults.servers.keeping import fail_write
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
    ``raises`` says that the call is expected to raise, ``may_store`` that it may be stored all the
    same, as what is synced late.
    """

    top: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    call: tuple[str, ...] = ("{call}",)
    after: tuple[str, ...] = ()
    raises: bool = True
    may_store: bool = False


def plain_faults(
    injection: Injection, places: Places, database: str, step: object
) -> Iterator[PlainFault]:
    """Ways to have the same thing fail in a store that holds nothing else, the plainest first."""
    plan, where = injection.plan, _where(database)
    inside = plan is not None and plan.place.event in (Event.STATEMENT, Event.ENGINE_STATEMENT)
    if plan is not None and injection.also is None and inside and not isinstance(step, Put):
        trigger = _trigger(plan, places, where) or _at_statement(plan, places, where)
        if trigger is not None:
            yield trigger
    yield from faults_anywhere(injection, places, database)


def faults_anywhere(injection: Injection, places: Places, database: str) -> Iterator[PlainFault]:
    """Those that do not depend on what is stored already."""
    plan = injection.plan
    if injection.value:
        yield _refusing(injection.value)
    if plan is None or injection.also is not None:
        return
    if plan.fault is Fault.CANCEL:
        if plan.place.index == 1:
            yield _CANCELLED
    elif plan.fault is Fault.LOCKED:
        yield _locked(_where(database))
    elif plan.place.event is Event.SEND:
        yield from _losing_message(plan)
        yield _failing_call(plan)
        return
    elif plan.place.event is Event.SYSTEM_CALL:
        yield _failing_call(plan)
        return
    elif plan.place.event is Event.SERVER_WRITE:
        yield _failing_write(plan)
        return
    elif plan.fault in FAILURES:
        yield _failing_io(plan)
        return
    elif plan.place.event is Event.COMMIT:
        yield _failing_commit(places, plan.place.index)
    if plan.fault is Fault.RAISE and plan.place.event is Event.STATEMENT:
        yield from _failing_statement(plan, places)
    yield from _to_the_letter(plan, places)


def _failing_write(plan: Plan) -> PlainFault:
    """The server that the script uses fails at a row."""
    how = quoted(WAYS[plan.fault])
    return PlainFault(
        top=(f"from {fail_write.__module__} import {fail_write.__name__}",),
        before=(f"{fail_write.__name__}(path, {plan.place.index}, {how})",),
    )


def _where(database: str) -> str:
    return f"path + {quoted('/' + database)}"


def _abort(where: str, verb: str, table: str, condition: str) -> PlainFault:
    return PlainFault(
        before=(
            f"trigger = {quoted(f'CREATE TRIGGER fault AFTER {verb} ON {table} WHEN ')}",
            "trigger += " + quoted(f"{condition} BEGIN SELECT RAISE(ABORT, 'fault'); END"),
            f"with contextlib.closing(sqlite3.connect({where})) as other:",
            "    other.execute(trigger)",
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


def _failing_statement(plan: Plan, places: Places) -> Iterator[PlainFault]:
    """A cursor that fails at one of the statements that it is given."""
    place = plan.place
    executed = [call for call in places.calls if not call.sql.endswith("()")]
    wanted = [c for c in executed if c.event is place.event and c.index == place.index]
    if not wanted or place.row is not None or plan.lasts is Lasts.ONWARDS:
        return
    after = place.moment is Moment.AFTER
    fail = ("        if left and left.pop(): raise sqlite3.OperationalError",)
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
        before=(f"left.extend({_after(executed.index(wanted[0]))})",),
    )


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


def _locked(where: str) -> PlainFault:
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
    )


def _failing_commit(places: Places, index: int) -> PlainFault:
    """A connection that fails at one of its commits."""
    by_call = any(call.event is Event.COMMIT and call.sql == "commit()" for call in places.calls)
    fail = "if left and left.pop(): raise sqlite3.OperationalError"
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
        before=(f"left.extend({_after(index - 1)})",),
    )


def _after(passing: int) -> str:
    """For each call to come, whether it fails: so many pass, and the one after them fails."""
    return f"[True{', False' * passing}]"


_CANCELLED = PlainFault(
    call=(
        "task = asyncio.create_task({coroutine})",
        "await asyncio.sleep(0)  # until it waits for the database",
        "task.cancel()",
        "await asyncio.wait([task])",
        "await asyncio.sleep(0.3)  # for work that was handed to a thread",
    ),
    raises=False,
)


def _refusing(number: int) -> PlainFault:
    """A serializer that refuses one value, as it refuses any that it does not know."""
    return PlainFault(
        top=(
            "class Refusing:",
            "    def __init__(self, serde): self.serde, self.count = serde, 0",
            "    def __getattr__(self, name): return getattr(self.serde, name)",
            "    def dumps_typed(self, value):",
            "        self.count += 1",
            f'        if self.count == {number}: raise TypeError("not to be serialized")',
            "        return self.serde.dumps_typed(value)",
        ),
        before=("saver.serde = Refusing(saver.serde)",),
        after=("saver.serde = saver.serde.serde",),
    )


def _failing_io(plan: Plan) -> PlainFault:
    """What stands between SQLite and its files takes more lines than a script has."""
    extent = ", Extent.ONWARDS" if plan.lasts is Lasts.ONWARDS else ""
    failure = FAILURES[plan.fault].name
    return PlainFault(
        top=("disk = IoWatch(tempfile.gettempdir())", "disk.__enter__()  # until the script ends"),
        before=(f"disk.arm(IoFault({plan.place.index}, Failure.{failure}{extent}))",),
        after=("disk.disarm()",),
    )


_CLASS = "socket.socket"
_IF_LOST = "    if self.family != socket.AF_UNIX and left and left.pop():"
_RESET = (f'{_IF_LOST} raise OSError(104, "reset")',)  # with its number, as the kernel raises it
_ANSWER_LOST = (
    _IF_LOST,
    "        sent = (send(self, *given), self.shutdown(socket.SHUT_WR))[0]",
    "        while select.select([self], [], [], 5)[0] and self.recv(65536): pass",
    "        return sent  # the server has done it, and its answer is thrown away",
)


def _losing_message(plan: Plan) -> Iterator[PlainFault]:
    """What a client written in Python meets, if nothing encrypts what it sends."""
    if plan.fault not in (Fault.CONNECTION_RESET, Fault.ANSWER_LOST) or plan.lasts is Lasts.ONWARDS:
        return
    yield PlainFault(
        top=(
            "left = []  # True where a message to come is lost; the last is for the next one",
            "def losing(self, send, *given):",
            *(_RESET if plan.fault is Fault.CONNECTION_RESET else _ANSWER_LOST),
            "    return send(self, *given)",
            'for way in ("connect", "send", "sendall", "sendmsg"):',
            f"    setattr({_CLASS}, way, functools.partialmethod(losing, getattr({_CLASS}, way)))",
        ),
        before=(f"left[:] = {_after(plan.place.index - 1)}",),
        after=("left.clear()",),
        may_store=True,
    )


def _failing_call(plan: Plan) -> PlainFault:
    """Who answers system calls is another process, which no script of forty lines can be."""
    extent = ", Extent.ONWARDS" if plan.lasts is Lasts.ONWARDS else ""
    failure = CALL_FAILURES[plan.fault].name
    return PlainFault(
        top=(
            "files = CallWatch(tempfile.gettempdir())",
            "files.__enter__().cover()  # until the script ends",
        ),
        before=(f"files.arm(CallFault({plan.place.index}, CallFailure.{failure}{extent}))",),
        after=("files.disarm()",),
        may_store=True,
    )


def _to_the_letter(plan: Plan, places: Places) -> Iterator[PlainFault]:
    shot = ArmedPlan(plan, fired=1)
    try:
        text = source(shot, places)
    except FaultsError:
        return
    top = tuple(line for line in text.splitlines() if line and not line.startswith("import "))
    if plan.fault is Fault.CANCEL:
        yield PlainFault(top, call=("await cancelled({coroutine})",))
    else:
        yield PlainFault(top, before=("Fault.arm()",), after=("Fault.heal()",))
