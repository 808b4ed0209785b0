"""Source text that makes calls of ``sqlite3`` fail, for scripts without this package."""

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.kinds import Event, Lasts, Moment
from saverproof_faults.places import LEAVING, Places

_BUILTINS = frozenset(
    {"MemoryError", "KeyboardInterrupt", "RuntimeError", "SystemExit", "TimeoutError"}
)


def raising(armed: ArmedPlan, places: Places) -> str:
    """Return the source of a driver that raises at the plan's place."""
    plan = armed.plan
    row, after = plan.place.row, plan.place.moment is Moment.AFTER
    taken = f"list(arguments[-1])[:{row}]" if row is not None else "arguments[-1]"
    name, _, said = plan.error.partition(": ")
    error = name if name in _BUILTINS else f"sqlite3.{name}"
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
        f"    raise {error}({said or 'raised on purpose'!r})",
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
    """Return the source of a cursor class in which a fault can strike at ``execute``, and at the
    similar methods that the operation calls.
    """
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
    """Return the similar methods, besides ``execute``, that the operation seems to have called."""
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
