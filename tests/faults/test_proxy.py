"""Client-side faults reach every way to open, execute, commit and roll back, and nothing else."""

import _sqlite3
import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import connect as bound_early
from sqlite3 import dbapi2

import aiosqlite
import pytest
import sqlalchemy

from saverproof_faults import (
    Event,
    Fault,
    FaultsError,
    InjectedFault,
    Injector,
    Lasts,
    Moment,
    Place,
    Plan,
    was_injected,
    write_locked,
)

Connect = Callable[..., sqlite3.Connection]


class OwnConnection(sqlite3.Connection):
    """A program's subclass that adds to what it inherits."""

    def execute(self, *arguments: object) -> sqlite3.Cursor:
        return super().execute(*arguments)  # type: ignore[arg-type]


class OwnCursor(sqlite3.Cursor):
    pass


@pytest.fixture
def injector() -> Iterator[Injector]:
    with Injector() as entered:
        yield entered


@pytest.fixture
def connection(injector: Injector) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("CREATE TABLE t (x)")
        opened.commit()
        yield opened


def raising(event: Event, index: int = 1, moment: Moment = Moment.BEFORE, **more: object) -> Plan:
    row = more.pop("row", None)
    place = Place(event, index, moment, row)  # type: ignore[arg-type]
    return Plan(Fault.RAISE, place, **more)  # type: ignore[arg-type]


def rows(connection: sqlite3.Connection) -> list[int]:
    return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


@pytest.mark.filterwarnings("ignore:Passing more than 1 positional argument:DeprecationWarning")
@pytest.mark.parametrize(
    "connect",
    [
        lambda: sqlite3.connect(":memory:"),
        lambda: dbapi2.connect(":memory:"),
        lambda: _sqlite3.connect(":memory:"),
        lambda: bound_early(":memory:"),
        lambda: sqlite3.connect(":memory:", factory=OwnConnection),
        lambda: sqlite3.connect(":memory:", 5.0, 0, None, True, OwnConnection),
    ],
    ids=["sqlite3", "dbapi2", "_sqlite3", "bound early", "own class", "own class by position"],
)
def test_every_way_to_connect_is_proxied(injector: Injector, connect: Connect) -> None:
    with closing(connect()) as connection:
        places = injector.count(lambda: connection.execute("SELECT 1").fetchone())
    assert isinstance(connection, sqlite3.Connection)
    assert [call.sql for call in places.calls] == ["SELECT 1"]
    assert (places.unproxied_connections, places.unproxied_statements) == (0, 0)


@pytest.mark.parametrize(
    "execute",
    [
        lambda c: c.execute("INSERT INTO t VALUES (1)"),
        lambda c: c.executemany("INSERT INTO t VALUES (?)", [(1,)]),
        lambda c: c.executemany("INSERT INTO t VALUES (?)", iter([(1,)])),
        lambda c: c.executescript("INSERT INTO t VALUES (1);"),
        lambda c: c.cursor().execute("INSERT INTO t VALUES (?)", (1,)),
        lambda c: c.cursor().executemany("INSERT INTO t VALUES (:x)", [{"x": 1}]),
        lambda c: c.cursor().executescript("INSERT INTO t VALUES (1);"),
        lambda c: c.cursor(OwnCursor).execute("INSERT INTO t VALUES (1)"),
        lambda c: c.cursor(factory=OwnCursor).execute("INSERT INTO t VALUES (1)"),
    ],
)
def test_every_way_to_execute_can_be_failed_before_and_after(
    injector: Injector,
    connection: sqlite3.Connection,
    execute: Callable[[sqlite3.Connection], object],
) -> None:
    for moment, left in ((Moment.BEFORE, []), (Moment.AFTER, [1])):
        with (
            injector.armed(raising(Event.STATEMENT, moment=moment)) as armed,
            pytest.raises(sqlite3.OperationalError, match="raised on purpose") as failure,
        ):
            execute(connection)
        assert isinstance(failure.value, InjectedFault)
        assert armed.fired == 1
        assert rows(connection) == left
        connection.execute("DELETE FROM t")
        connection.commit()
    places = injector.count(lambda: execute(connection))
    assert len(places.calls) == 1
    assert places.unproxied_statements == 0


def test_own_cursor_classes_stay_what_they_are(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    cursor = connection.cursor(OwnCursor)
    assert isinstance(cursor, OwnCursor)
    assert type(cursor).__name__ == "OwnCursor"
    assert isinstance(connection.cursor(), sqlite3.Cursor)


@pytest.mark.parametrize("row", [1, 2])
def test_a_batch_fails_after_really_executing_its_first_rows(
    injector: Injector, connection: sqlite3.Connection, row: int
) -> None:
    plan = raising(Event.STATEMENT, moment=Moment.AFTER, row=row)
    with injector.armed(plan), pytest.raises(sqlite3.OperationalError):
        connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,), (3,)])
    assert rows(connection) == list(range(1, row + 1))


def test_a_batch_shorter_than_the_planned_row_does_not_fire(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    with injector.armed(raising(Event.STATEMENT, moment=Moment.AFTER, row=9)) as armed:
        connection.executemany("INSERT INTO t VALUES (?)", [(1,)])
    assert not armed.fired
    assert injector.report.never_fired == (armed,)
    with pytest.raises(FaultsError, match="never fired"):
        armed.require_fired()


@pytest.mark.parametrize("moment", list(Moment))
@pytest.mark.parametrize(
    "execute",
    [
        lambda c: c.execute("INSERT INTO t VALUES (1)"),
        lambda c: c.executemany("INSERT INTO t VALUES (?)", [(1,)]),
        lambda c: c.executescript("BEGIN; INSERT INTO t VALUES (1);"),
        lambda c: c.cursor().execute("INSERT INTO t VALUES (1)"),
    ],
)
def test_an_error_that_is_kept_keeps_no_cursor_and_so_no_transaction(
    injector: Injector,
    tmp_path: Path,
    execute: Callable[[sqlite3.Connection], object],
    moment: Moment,
) -> None:
    path = str(tmp_path / "a.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (0)")
    with injector.armed(raising(Event.STATEMENT, moment=moment)):
        try:
            execute(connection)
        except sqlite3.OperationalError as error:
            kept = error
    connection.close()
    assert kept.__traceback__ is not None
    assert not write_locked(path)


def test_places_of_a_batch_are_its_rows_and_before_it(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    places = injector.count(
        lambda: connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,), (3,)])
    )
    found = [(plan.place.moment, plan.place.row) for plan in places.plans({Fault.RAISE})]
    after = Moment.AFTER
    # Once the last row is stored, an engine in the same process has nothing left to fail at.
    assert found == [(Moment.BEFORE, None), (after, 1), (after, 2)]


def test_commit_fails_before_or_after_it_really_commits(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    for moment, still_open in ((Moment.BEFORE, True), (Moment.AFTER, False)):
        connection.execute("INSERT INTO t VALUES (1)")
        with (
            injector.armed(raising(Event.COMMIT, moment=moment)),
            pytest.raises(sqlite3.OperationalError),
        ):
            connection.commit()
        assert connection.in_transaction is still_open
        connection.rollback()


def test_a_block_whose_commit_fails_rolls_back_as_sqlite3_does(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    with (
        injector.armed(raising(Event.COMMIT)),
        pytest.raises(sqlite3.OperationalError),
        connection,
    ):
        connection.execute("INSERT INTO t VALUES (1)")
    assert not connection.in_transaction
    assert rows(connection) == []


def test_a_block_left_by_an_exception_can_fail_to_roll_back(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    def operation() -> None:
        with connection:
            connection.execute("INSERT INTO t VALUES (1)")
            raise KeyError("the program's own")

    with injector.armed(raising(Event.ROLLBACK)), pytest.raises(sqlite3.OperationalError):
        operation()
    assert connection.in_transaction
    connection.rollback()


@pytest.mark.parametrize(
    ("sql", "event"),
    [
        ("BEGIN IMMEDIATE", Event.BEGIN),
        ("-- why\n /* so */ commit;", Event.COMMIT),
        ("END TRANSACTION", Event.COMMIT),
        ("ROLLBACK", Event.ROLLBACK),
        ("ROLLBACK TO inner_one", Event.STATEMENT),
        ("SAVEPOINT inner_one", Event.STATEMENT),
    ],
)
def test_transactions_controlled_by_sql_are_told_from_statements(sql: str, event: Event) -> None:
    with Injector() as injector, closing(sqlite3.connect(":memory:")) as connection:
        connection.isolation_level = None
        with injector.armed(raising(event)), pytest.raises(sqlite3.OperationalError) as failure:
            connection.execute(sql)
    assert was_injected(failure.value)


def test_a_fault_from_there_on_also_fails_the_rollback(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    armed_plans = injector.arm(
        raising(Event.STATEMENT, 2, lasts=Lasts.ONWARDS), raising(Event.ROLLBACK)
    )
    connection.execute("INSERT INTO t VALUES (1)")
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="2nd statement"):
            connection.execute("SELECT 1")
    with pytest.raises(sqlite3.OperationalError, match="1st rollback"):
        connection.rollback()
    injector.heal()
    assert [armed.fired for armed in armed_plans] == [2, 1]
    assert rows(connection) == [1]


@pytest.mark.parametrize("error", ["IntegrityError", "MemoryError", "KeyboardInterrupt"])
def test_the_error_is_the_one_the_plan_names(
    injector: Injector, connection: sqlite3.Connection, error: str
) -> None:
    with (
        injector.armed(raising(Event.STATEMENT, error=error)),
        pytest.raises(BaseException, match="raised on purpose") as failure,
    ):
        connection.execute("SELECT 1")
    assert type(failure.value).__name__ == error


def test_what_a_proxy_does_not_see_is_counted(injector: Injector) -> None:
    with closing(sqlite3.Connection(":memory:")) as direct:
        places = injector.count(lambda: direct.execute("SELECT 1"))
    assert (places.unproxied_connections, places.unproxied_statements) == (1, 1)
    with closing(sqlite3.connect(":memory:")) as proxied:
        places = injector.count(lambda: sqlite3.Cursor(proxied).execute("SELECT 1"))
    assert (places.unproxied_connections, places.unproxied_statements) == (0, 1)
    assert injector.report.unproxied_statements == 2


def test_leaving_the_injector_undoes_every_patch() -> None:
    true = sqlite3.connect
    with Injector():
        assert sqlite3.connect is not true
        with pytest.raises(FaultsError, match="another"), Injector():
            pass
        connection = sqlite3.connect(":memory:")
    assert sqlite3.connect is true
    assert dbapi2.connect is true
    assert _sqlite3.connect is true
    assert bound_early is true
    with closing(connection), connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_aiosqlite_is_proxied_in_its_own_thread(injector: Injector) -> None:
    async def program() -> None:
        async with aiosqlite.connect(":memory:") as connection:
            await connection.execute("CREATE TABLE t (x)")

            async def operation() -> None:
                await connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
                await connection.commit()

            with injector.counting() as counting:
                await operation()
            assert [call.event for call in counting.places.calls] == [
                Event.STATEMENT,
                Event.COMMIT,
            ]
            assert counting.places.unproxied_statements == 0
            for plan in counting.places.plans({Fault.RAISE}):
                with injector.armed(plan) as armed, pytest.raises(sqlite3.OperationalError):
                    await operation()
                armed.require_fired()
                await connection.rollback()

    asyncio.run(program())


def test_sqlalchemy_is_proxied(injector: Injector, tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/a.db")
    insert = sqlalchemy.text("INSERT INTO t VALUES (:x)")

    def operation() -> None:
        with engine.begin() as connection:
            connection.execute(insert, [{"x": 1}, {"x": 2}])

    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE t (x)"))
    places = injector.count(operation)
    assert places.unproxied_statements == 0
    plans = places.plans({Fault.RAISE})
    # The pool rolls back what it is given back, and replaces a connection that cannot.
    heard = [plan for plan in plans if plan.place.event is not Event.ROLLBACK]
    assert len(heard) == 3
    for plan in heard:
        with injector.armed(plan) as armed, pytest.raises(sqlalchemy.exc.DBAPIError):
            operation()
        armed.require_fired()
    engine.dispose()


def test_what_is_counted_too_long_ends_no_later_count(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    late = injector.counting()
    late.__enter__()
    # The call that was counted does not return, and is given up.
    injector.heal()
    with injector.counting() as counting:
        late.__exit__(None, None, None)
        connection.execute("SELECT 1")
    assert [call.event for call in counting.places.calls] == [Event.STATEMENT]


def test_threads_may_share_a_connection_that_hooks_are_inside(tmp_path: Path) -> None:
    """A hook needs the interpreter's lock, and sqlite3 may wait for SQLite with it."""
    with Injector(folder=tmp_path) as injector:
        shared = sqlite3.connect(tmp_path / "a.db", check_same_thread=False, isolation_level=None)
        shared.execute("CREATE TABLE t (x)")

        def use() -> None:
            for number in range(300):
                shared.execute("INSERT INTO t VALUES (?)", (number,))
                shared.execute("SELECT x FROM t LIMIT 20").fetchall()

        with injector.counting():
            # Threads that wait for each other for ever must not keep the tests from ending.
            threads = [threading.Thread(target=use, daemon=True) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert not any(thread.is_alive() for thread in threads)
        assert shared.execute("SELECT count(*) FROM t").fetchone() == (900,)
        shared.close()


def test_an_exception_of_a_fetch_keeps_no_cursor(injector: Injector, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        # It raises without a frame of Python, which would keep what it was given.
        connection.row_factory = int
        for fetch in ("fetchone", "fetchmany", "fetchall", "__next__"):
            cursor = connection.execute("SELECT 1")
            gone = weakref.ref(cursor)
            with pytest.raises(TypeError) as kept:
                getattr(cursor, fetch)()
            del cursor
            assert gone() is None, f"{fetch}: {kept.value}"
