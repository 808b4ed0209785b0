"""A fault as a few lines of Python that need nothing but the standard library, for reproducers.

`source(shot, places)` is program text to stand before the program's own imports. It defines

- for all faults but cancellation: `Fault.arm()` and `Fault.heal()`, to be called just before and
  after the operation;
- for a cancellation: `await cancelled(coroutine)`, which returns once the work is settled.

The faults are the same as an injector's: the same exception at the same place, raised by SQLite
itself where the plan says so. They reach whatever connects by `sqlite3.connect`.
"""

import re
from collections.abc import Callable
from textwrap import dedent, indent

from .errors import FaultsError
from .kinds import Event, Fault, Lasts, Moment
from .places import LEAVING, Places
from .shots import Shot


def source(shot: Shot, places: Places) -> str:
    """Program text for a plan that has fired, among the places of the clean run.

    Raises FaultsError for faults that need this package: those of I/O, and kills.
    """
    maker = _MAKERS.get(shot.plan.fault)
    if maker is None:
        raise FaultsError(f"{shot.plan.fault.value!r} cannot be reproduced without this package")
    return dedent(maker(shot, places)).strip() + "\n"


_BUILTINS = frozenset({"MemoryError", "KeyboardInterrupt", "TimeoutError", "RuntimeError"})


def _client(shot: Shot, places: Places) -> str:
    plan = shot.plan
    row, after = plan.place.row, plan.place.moment is Moment.AFTER
    taken = f"list(arguments[-1])[:{row}]" if row is not None else "arguments[-1]"
    error = plan.error if plan.error in _BUILTINS else f"sqlite3.{plan.error}"
    connection = _connection(plan.place.event, places)
    lines = [
        *_HEAD,
        "def strike(event, run, *arguments):",
        f"    if not Fault.armed or event != {plan.place.event.value!r}: return run(*arguments)",
        "    Fault.calls += 1",
        f"    if Fault.calls {'<' if plan.lasts is Lasts.ONWARDS else '!='} {plan.place.index}: "
        "return run(*arguments)",
        *(["    run(*arguments)"] if after and row is None else []),
        *([f"    run(arguments[0], {taken})"] if row is not None else []),
        f'    raise {error}("raised on purpose")',
        "",
        *(_cursor(places) if "cursor(Cursor)" in "\n".join(connection) else ()),
        *connection,
        "def connect(*arguments, **options):",
        '    return plain_connect(*arguments, **{**options, "factory": Connection})',
        "plain_connect = sqlite3.connect",
        "sqlite3.connect = sqlite3.dbapi2.connect = connect",
    ]
    return "\n".join(lines)


_HEAD = (
    "import sqlite3",
    "",
    "class Fault:",
    "    armed, calls = False, 0",
    "    def arm(): Fault.armed = True",
    "    def heal(): Fault.armed = False",
    "",
)


def _cursor(places: Places) -> list[str]:
    """A cursor whose ways to execute, as far as the operation used them, are counted."""
    controls = {
        call.sql.split()[0].strip(";").upper(): call.event.value
        for call in places.calls
        if call.event is not Event.STATEMENT and call.sql not in _METHODS
    }
    event = f"{controls}.get(sql.split()[0].upper(), 'statement')" if controls else "'statement'"
    return [
        "class Cursor(sqlite3.Cursor):",
        "    def execute(self, sql, *more):",
        f"        return strike({event}, super().execute, sql, *more)",
        *(
            f"    def {name}(self, *more): return strike('statement', super().{name}, *more)"
            for name in _others(places)
        ),
    ]


_METHODS = ("commit()", "rollback()", LEAVING)


def _others(places: Places) -> list[str]:
    """The ways to execute beside `execute` that the operation seems to have used."""
    statements = [call for call in places.calls if call.event is Event.STATEMENT]
    used = {
        "executemany": any(call.rows is not None for call in statements),
        "executescript": any(";" in call.sql.strip().strip(";") for call in statements),
    }
    return [name for name, needed in used.items() if needed]


def _connection(event: Event, places: Places) -> list[str]:
    used = {call.sql for call in places.calls if call.event is event}
    lines = ["class Connection(sqlite3.Connection):"]
    if not used <= set(_METHODS):
        lines.append("    def cursor(self, *_): return super().cursor(Cursor)")
        lines += [
            f"    def {name}(self, *more): return self.cursor().{name}(*more)"
            for name in ("execute", *_others(places))
        ]
    for name in ("commit", "rollback"):
        if f"{name}()" in used:
            lines.append(f"    def {name}(self): return strike('{name}', super().{name})")
    if LEAVING in used:
        lines += [
            "    def __exit__(self, kind, *more):",
            "        event = 'rollback' if kind else 'commit'",
            "        try: return strike(event, super().__exit__, kind, *more)",
            "        except BaseException:",
            "            if not kind: super().rollback()  # as sqlite3 does if a commit fails",
            "            raise",
        ]
    return lines


def _engine(prepare: str, *, state: str = "", methods: str = "", heal: str = "") -> str:
    """The frame of the faults that SQLite raises: what is done to each open connection."""
    return _ENGINE.format(
        state=state and f"; {state}",
        methods=indent(dedent(methods).strip(), " " * 4).lstrip() or "pass",
        prepare=indent(dedent(prepare).strip(), " " * 8).lstrip(),
        heal=f"\n        for connection in Fault.connections: {heal}" if heal else "",
    )


_ENGINE = """
import sqlite3

class Fault:
    armed, calls, connections = False, 0, []{state}
    {methods}
    def prepare(connection):
        {prepare}
    def arm():
        Fault.armed = True
        for connection in Fault.connections: Fault.prepare(connection)
    def heal():
        Fault.armed = False{heal}

class Connection(sqlite3.Connection):
    def close(self): Fault.connections.remove(self); super().close()

def connect(*arguments, **options):
    own = dict(check_same_thread=False, factory=Connection)
    Fault.connections.append(plain_connect(*arguments, **{{**options, **own}}))
    if Fault.armed: Fault.prepare(Fault.connections[-1])
    return Fault.connections[-1]
plain_connect = sqlite3.connect
sqlite3.connect = sqlite3.dbapi2.connect = connect
"""


def _trigger(shot: Shot, places: Places) -> str:
    place = shot.plan.place
    wanted = next(found for found in places.statements if found.number == place.index)
    before = [found for found in places.statements if found.number < place.index and found.rows]
    written = _written(wanted.sql)
    if any(_written(statement.sql) is None for statement in before):
        written = None
    # The trigger is asked for every row: those of the statements before come first.
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
    return _engine(prepare, methods=fires)


_ABORT = "WHEN fires() BEGIN SELECT RAISE(ABORT, 'raised on purpose'); END"

_ONE_TABLE = (
    """connection.execute('CREATE TEMP TRIGGER fault AFTER {verb} ON "{table}" '\n"""
    f"""    "{_ABORT}")"""
)

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
    """The verb and the table of a statement, None where that is not plain to see."""
    found = _WRITES.match(sql)
    if found is None or re.search(r"\bON\s+CONFLICT\b", sql, re.IGNORECASE):
        return None
    inserts, updates, _deletes, table = found.groups()
    verb = "INSERT" if inserts else "UPDATE" if updates else "DELETE"
    return verb, table.lower()


def _interrupt(shot: Shot, _places: Places) -> str:
    index = shot.plan.place.index
    return _engine(
        state="asked = 0",
        methods=f"""
        def began(_): Fault.calls += Fault.armed
        def steps():
            Fault.asked += Fault.armed and Fault.calls == {index}
            return Fault.armed and Fault.calls == {index} and Fault.asked == {max(1, shot.steps)}
        """,
        prepare="""
        connection.set_trace_callback(Fault.began)
        connection.set_progress_handler(Fault.steps, 1)
        """,
    )


def _denied(shot: Shot, _places: Places) -> str:
    before = shot.plan.place.index - 1
    return _engine(
        state="fired = False",
        methods=f"""
        def began(connection):
            Fault.calls += Fault.armed
            if Fault.armed and Fault.calls == {before}: connection.set_authorizer(Fault.denies)
        def denies(*_):
            if not Fault.armed or Fault.calls < {before} or Fault.fired: return sqlite3.SQLITE_OK
            Fault.fired = True
            return sqlite3.SQLITE_DENY
        """,
        prepare="""
        connection.set_trace_callback(lambda _: Fault.began(connection))
        connection.set_authorizer(Fault.denies)
        """,
    )


def _lock(shot: Shot, _places: Places) -> str:
    locked = shot.plan.fault is Fault.LOCKED
    sql = "BEGIN IMMEDIATE" if locked else "BEGIN; SELECT count(*) FROM sqlite_master"
    return _engine(
        state="other = None",
        methods=f"""
        def began(path):
            Fault.calls += Fault.armed
            if Fault.armed and Fault.calls == {shot.plan.place.index}:
                own = dict(timeout=0, isolation_level=None, check_same_thread=False)
                Fault.other = plain_connect(path, **own)
                for sql in {sql!r}.split(";"): Fault.other.execute(sql).fetchall()
        """,
        prepare="""
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        connection.execute("PRAGMA busy_timeout = 0")
        connection.set_trace_callback(lambda _: Fault.began(path))
        """,
        heal="Fault.other and Fault.other.close()",
    )


def _pragma(name: str, value: str, healed: str) -> Callable[[Shot, Places], str]:
    def made(_shot: Shot, _places: Places) -> str:
        return _engine(
            prepare=f"""
            pages = max(1, connection.execute("PRAGMA page_count").fetchone()[0])
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
            """,
            heal=f'connection.execute("PRAGMA {name} = {healed}").fetchall()',
        )

    return made


def _refused(shot: Shot, _places: Places) -> str:
    return _REFUSED.format(index=shot.plan.place.index)


_REFUSED = """
    import _sqlite3, ctypes

    class Fault:
        armed, commits = False, 0
        def arm(): Fault.armed = True
        def heal(): Fault.armed = False

    def refuse(_):
        Fault.commits += Fault.armed
        return Fault.armed and Fault.commits == {index}

    def opened(handle, *_):
        sqlite.sqlite3_commit_hook(ctypes.c_void_p(handle), hook, None)
        return 0

    sqlite, pointer = ctypes.CDLL(_sqlite3.__file__), ctypes.c_void_p
    hook = ctypes.CFUNCTYPE(ctypes.c_int, pointer)(refuse)
    on_open = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer)(opened)
    sqlite.sqlite3_auto_extension(on_open)
"""


def _cancelled(shot: Shot, _places: Places) -> str:
    place = shot.plan.place
    at = f"steps == {place.index}"
    before = place.moment is Moment.BEFORE
    return _CANCELLED.format(
        before=at if before else "False",
        after="False" if before else at,
    )


_CANCELLED = """
    import asyncio

    class Steps:
        def __init__(self, coroutine): self.coroutine = coroutine
        def __await__(self):
            error, steps = None, 0
            while True:
                try:
                    run = self.coroutine
                    waiting = run.throw(error) if error else run.send(None)
                except StopIteration as end:
                    return end.value
                error, steps = None, steps + 1
                if {before}: asyncio.current_task().cancel()
                try: yield waiting
                except BaseException as raised: error = raised
                else:
                    if {after}: error = asyncio.CancelledError()

    async def cancelled(coroutine):
        async def run(): return await Steps(coroutine)
        await asyncio.wait({{asyncio.create_task(run())}})
        await asyncio.sleep(0.2)  # for work that was handed to a thread
"""

_MAKERS: dict[Fault, Callable[[Shot, Places], str]] = {
    Fault.RAISE: _client,
    Fault.TRIGGER_ABORT: _trigger,
    Fault.INTERRUPT: _interrupt,
    Fault.DENIED: _denied,
    Fault.LOCKED: _lock,
    Fault.BUSY_COMMIT: _lock,
    Fault.READ_ONLY: _pragma("query_only", "1", "0"),
    Fault.DISK_FULL: _pragma("max_page_count", "{pages}", "1073741823"),
    Fault.COMMIT_REFUSED: _refused,
    Fault.CANCEL: _cancelled,
}
