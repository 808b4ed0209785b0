"""Source text that makes SQLite fail by itself, for scripts without this package.

SQLite is interrupted, denies a statement, is locked, full or read-only, or refuses a commit.
"""

from collections.abc import Callable

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.kinds import Fault
from saverproof_faults.places import Places
from saverproof_faults.standalone.frame import engine


def interrupt(armed: ArmedPlan, _places: Places) -> str:
    """Return the source of an interrupt at a statement."""
    index = armed.plan.place.index
    return engine(
        state="asked = 0",
        methods=f"""
        def began(_): Fault.calls += Fault.armed
        def steps():
            Fault.asked += Fault.armed and Fault.calls == {index}
            return Fault.armed and Fault.calls == {index} and Fault.asked == {max(1, armed.steps)}
        """,
        prepare="""
        connection.set_trace_callback(Fault.began)
        connection.set_progress_handler(Fault.steps, 1)
        """,
    )


def denied(armed: ArmedPlan, _places: Places) -> str:
    """Return the source of an authorizer that denies a statement."""
    before = armed.plan.place.index - 1
    return engine(
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


def lock(armed: ArmedPlan, _places: Places) -> str:
    """Return the source of a second connection that holds a lock."""
    locked = armed.plan.fault is Fault.LOCKED
    sql = "BEGIN IMMEDIATE" if locked else "BEGIN; SELECT count(*) FROM sqlite_master"
    return engine(
        state="other = None",
        methods=f"""
        def began(path):
            Fault.calls += Fault.armed
            if Fault.armed and Fault.calls == {armed.plan.place.index}:
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


def pragma(name: str, value: str, healed: str) -> Callable[[ArmedPlan, Places], str]:
    """Return a maker of source that sets a pragma on each connection, and resets it on healing."""

    def made(_shot: ArmedPlan, _places: Places) -> str:
        return engine(
            prepare=f"""
            pages = max(1, connection.execute("PRAGMA page_count").fetchone()[0])
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
            """,
            heal=f'connection.execute("PRAGMA {name} = {healed}").fetchall()',
        )

    return made


def refused(armed: ArmedPlan, _places: Places) -> str:
    """Return the source of a commit hook that refuses a commit."""
    return _REFUSED.format(index=armed.plan.place.index)


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
