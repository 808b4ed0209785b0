"""Faults that SQLite raises itself: each fires at its place, and healing leaves nothing of it."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from saverproof_faults import (
    Event,
    Fault,
    FaultsError,
    Injector,
    Lasts,
    Moment,
    Place,
    Places,
    Plan,
    commit_elsewhere,
    open_transactions,
    outside_view,
    write_locked,
)
from saverproof_faults.sqlite.library import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

ROWS = [(number, "x" * 3000) for number in range(1, 6)]


@pytest.fixture
def injector(tmp_path: Path) -> Iterator[Injector]:
    with Injector() as entered:
        yield entered


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


@pytest.fixture
def connection(injector: Injector, path: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
        opened.execute("CREATE TABLE u (x INTEGER PRIMARY KEY, y)")
        opened.commit()
        yield opened


def batch(connection: sqlite3.Connection) -> None:
    """A careless operation: one transaction that is never rolled back."""
    connection.executemany("INSERT OR REPLACE INTO t VALUES (?, ?)", ROWS)
    connection.commit()


def places_of(injector: Injector, tmp_path: Path) -> Places:
    with closing(sqlite3.connect(tmp_path / "clean.db")) as clean:
        clean.execute("PRAGMA journal_mode = WAL")
        clean.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
        return injector.count(lambda: batch(clean))


def failed(
    injector: Injector,
    plan: Plan,
    operation: Callable[[], object],
    match: str,
) -> sqlite3.Error:
    with injector.armed(plan) as armed, pytest.raises(sqlite3.Error, match=match) as failure:
        operation()
    armed.require_fired()
    return failure.value


def stored(path: str) -> int:
    return outside_view(path).tables["t"].rows


def engine(
    fault: Fault, number: int, moment: Moment = Moment.BEFORE, row: int | None = None
) -> Plan:
    return Plan(fault, Place(Event.ENGINE_STATEMENT, number, moment, row))


def test_a_clean_run_shows_begin_each_row_and_commit(injector: Injector, tmp_path: Path) -> None:
    places = places_of(injector, tmp_path)
    words = [statement.sql.split()[0] for statement in places.statements]
    assert words == ["BEGIN", *["INSERT"] * 5, "COMMIT"]
    assert [statement.rows for statement in places.statements] == [0, 1, 1, 1, 1, 1, 0]
    assert [statement.commits for statement in places.statements] == [False] * 6 + [True]
    assert [statement.locks for statement in places.statements] == [False, True] + [False] * 5
    assert (places.transactions, places.rollbacks, places.grew) == (1, 0, True)
    assert not places.rollback_journal


def test_every_planned_fault_fires_and_leaves_the_connection_usable(
    injector: Injector, tmp_path: Path
) -> None:
    plans = places_of(injector, tmp_path).plans()
    assert {plan.fault for plan in plans} == {
        Fault.RAISE,
        Fault.TRIGGER_ABORT,
        Fault.COMMIT_REFUSED,
        Fault.INTERRUPT,
        Fault.LOCKED,
        Fault.DISK_FULL,
        Fault.READ_ONLY,
        Fault.DENIED,
    }
    for number, plan in enumerate(plans):
        path = str(tmp_path / f"{number}.db")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
            with injector.armed(plan) as armed, pytest.raises(sqlite3.Error):
                batch(connection)
            armed.require_fired()
            connection.rollback()
            batch(connection)
            assert stored(path) == 5
            assert not write_locked(path)
    assert injector.report.injected == len(plans)
    assert injector.report.never_fired == ()
    assert injector.report.by_side["client-side"] == 6


@pytest.mark.parametrize("row", range(1, 6))
def test_a_trigger_aborts_one_row_and_keeps_the_transaction(
    injector: Injector, connection: sqlite3.Connection, path: str, row: int
) -> None:
    plan = engine(Fault.TRIGGER_ABORT, 1 + row, row=1)
    error = failed(injector, plan, lambda: batch(connection), "raised on purpose")
    assert isinstance(error, sqlite3.IntegrityError)
    assert error.sqlite_errorname == "SQLITE_CONSTRAINT_TRIGGER"
    assert write_locked(path)
    connection.commit()
    assert stored(path) == row - 1


@pytest.mark.parametrize(
    "sql",
    ["UPDATE t SET y = 'new'", "DELETE FROM t", "INSERT INTO u SELECT x, y FROM t"],
)
def test_a_trigger_aborts_a_later_row_of_one_statement(
    injector: Injector, connection: sqlite3.Connection, path: str, sql: str
) -> None:
    batch(connection)
    before = outside_view(path)
    plan = engine(Fault.TRIGGER_ABORT, 2, row=3)
    failed(injector, plan, lambda: connection.execute(sql), "raised on purpose")
    connection.commit()
    assert outside_view(path) == before


def test_a_connection_that_only_reads_is_left_alone(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("PRAGMA query_only = 1")
        plan = engine(Fault.TRIGGER_ABORT, 2, row=1)
        failed(injector, plan, lambda: batch(connection), "raised on purpose")
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
        assert reader.execute("PRAGMA query_only").fetchone() == (1,)


def test_a_connection_whose_folder_is_gone_is_left_alone(
    injector: Injector, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "b.db")) as made:
        made.execute("PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(folder / "b.db")):
        shutil.rmtree(folder)
        plan = engine(Fault.TRIGGER_ABORT, 2, row=1)
        failed(injector, plan, lambda: batch(connection), "raised on purpose")


def test_a_refused_commit_is_rolled_back_by_sqlite(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    plan = Plan(Fault.COMMIT_REFUSED, Place(Event.TRANSACTION))
    error = failed(injector, plan, lambda: batch(connection), "constraint failed")
    assert error.sqlite_errorname == "SQLITE_CONSTRAINT_COMMITHOOK"
    assert not connection.in_transaction
    assert stored(path) == 0


def test_an_interrupt_undoes_a_running_write_but_not_a_finished_one(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    failed(injector, engine(Fault.INTERRUPT, 4), lambda: batch(connection), "^interrupted$")
    assert not connection.in_transaction
    failed(
        injector,
        engine(Fault.INTERRUPT, 4, Moment.AFTER),
        lambda: batch(connection),
        "^interrupted$",
    )
    assert connection.in_transaction
    connection.commit()
    assert stored(path) == 3


def test_an_interrupt_after_the_commit_only_loses_the_answer(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    failed(
        injector,
        engine(Fault.INTERRUPT, 7, Moment.AFTER),
        lambda: batch(connection),
        "^interrupted$",
    )
    assert stored(path) == 5


def test_a_denied_commit_leaves_the_transaction_open(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    failed(injector, engine(Fault.DENIED, 7), lambda: batch(connection), "not authorized")
    assert connection.in_transaction
    assert open_transactions(injector.watch) == (
        f"connection 1 to {path} (holding the write lock)",
    )
    connection.rollback()
    assert open_transactions(injector.watch) == ()


def test_a_statement_that_is_cached_is_denied_too(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    batch(connection)
    failed(injector, engine(Fault.DENIED, 2), lambda: batch(connection), "not authorized")
    connection.rollback()


def read(connection: sqlite3.Connection) -> None:
    """A read in a transaction of its own, which a rollback ends."""
    connection.execute("BEGIN")
    connection.execute("SELECT * FROM t").fetchall()
    connection.execute("ROLLBACK")


def test_a_rollback_is_neither_denied_nor_interrupted(
    injector: Injector, connection: sqlite3.Connection
) -> None:
    with injector.counting() as counting:
        read(connection)
    planned = {(plan.fault, plan.place.index) for plan in counting.places.plans()}
    struck = (Fault.DENIED, Fault.INTERRUPT)
    assert {index for fault, index in planned if fault in struck} == {1, 2}
    for fault in struck:
        with injector.armed(engine(fault, 3)) as armed:
            read(connection)
        assert not armed.fired


def test_a_lock_is_refused_at_once_and_released(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    connection.execute("PRAGMA busy_timeout = 4321")
    error = failed(
        injector, engine(Fault.LOCKED, 2), lambda: batch(connection), "database is locked"
    )
    assert error.sqlite_errorname == "SQLITE_BUSY"
    assert not write_locked(path)
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (4321,)
    connection.rollback()


def test_a_lock_once_lets_a_retry_pass_and_onwards_does_not(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    place = Place(Event.ENGINE_STATEMENT, 1)
    for lasts, passes in ((Lasts.ONCE, True), (Lasts.ONWARDS, False)):
        with injector.armed(Plan(Fault.LOCKED, place, lasts)):
            for _ in range(2):
                with suppress(sqlite3.OperationalError):
                    batch(connection)
            assert write_locked(path) is not passes
        assert bool(stored(path)) is passes
        connection.rollback()
        connection.execute("DELETE FROM t")
        connection.commit()


def test_a_connection_behind_the_times_shows_as_busy_snapshot(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    with injector.armed(engine(Fault.LOCKED, 2)), suppress(sqlite3.OperationalError):
        batch(connection)
    connection.execute("SELECT * FROM t").fetchall()
    commit_elsewhere(path)
    with pytest.raises(sqlite3.OperationalError) as failure:
        batch(connection)
    assert failure.value.sqlite_errorname == "SQLITE_BUSY_SNAPSHOT"


def test_a_lock_that_cannot_be_taken_says_why(injector: Injector) -> None:
    with closing(sqlite3.connect(":memory:")) as memory:
        memory.execute("CREATE TABLE t (x, y)")
        memory.commit()
        with injector.armed(engine(Fault.LOCKED, 2)) as armed:
            batch(memory)
    with pytest.raises(FaultsError, match="in memory cannot be locked"):
        armed.require_fired()


def test_a_reader_keeps_a_commit_waiting_without_wal(injector: Injector, path: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
        (plan,) = injector.count(lambda: batch(connection)).plans({Fault.BUSY_COMMIT})
        failed(injector, plan, lambda: batch(connection), "database is locked")
        assert connection.in_transaction
        connection.commit()


def test_a_full_disk_and_a_read_only_one_are_undone(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    throughout = Place(Event.OPERATION)
    pages = connection.execute("PRAGMA max_page_count").fetchone()
    for fault, message in (
        (Fault.DISK_FULL, "database or disk is full"),
        (Fault.READ_ONLY, "readonly database"),
    ):
        plan = Plan(fault, throughout, Lasts.ONWARDS)
        failed(injector, plan, lambda: batch(connection), message)
        connection.rollback()
        assert stored(path) == 0
    assert connection.execute("PRAGMA max_page_count").fetchone() == pages
    assert connection.execute("PRAGMA query_only").fetchone() == (0,)
    batch(connection)


@pytest.mark.parametrize("plan", [
    engine(Fault.TRIGGER_ABORT, 3, row=1),
    engine(Fault.INTERRUPT, 3),
    engine(Fault.DENIED, 3),
    engine(Fault.LOCKED, 2),
    Plan(Fault.COMMIT_REFUSED, Place(Event.TRANSACTION)),
    Plan(Fault.DISK_FULL, Place(Event.OPERATION), Lasts.ONWARDS),
    Plan(Fault.READ_ONLY, Place(Event.OPERATION), Lasts.ONWARDS),
], ids=lambda plan: plan.fault.value)  # fmt: skip
def test_a_connection_that_the_operation_opens_itself_is_failed(
    injector: Injector, connection: sqlite3.Connection, path: str, plan: Plan
) -> None:
    def operation() -> None:
        with closing(sqlite3.connect(path)) as own:
            batch(own)

    failed(injector, plan, operation, ".")
    operation()
    assert stored(path) == 5


def test_a_paused_reader_on_the_same_connection_keeps_no_fault_from_healing(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    batch(connection)
    paused = connection.execute("SELECT x FROM t ORDER BY x")
    assert paused.fetchone() == (1,)
    failed(
        injector,
        engine(Fault.TRIGGER_ABORT, 2, row=1),
        lambda: batch(connection),
        "raised on purpose",
    )
    assert paused.fetchone() == (2,)
    connection.rollback()
    batch(connection)


def test_io_faults_are_planned_and_fired_below_the_folder(tmp_path: Path) -> None:
    with Injector(folder=tmp_path) as injector:
        if injector.io_unavailable:
            pytest.skip(injector.io_unavailable)
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            connection.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
            plans = injector.count(lambda: batch(connection)).plans({Fault.IO_ERROR, Fault.IO_FULL})
            assert len(plans) > 6
            for plan in plans:
                with injector.armed(plan) as armed, suppress(sqlite3.OperationalError):
                    batch(connection)
                armed.require_fired()
                connection.rollback()
        with pytest.raises(FaultsError, match="cancel"):
            injector.arm(Plan(Fault.CANCEL, Place(Event.AWAIT)))


def test_io_faults_need_a_folder(injector: Injector) -> None:
    with pytest.raises(FaultsError, match="given no folder"):
        injector.arm(Plan(Fault.IO_ERROR, Place(Event.WRITE)))


def test_two_plans_strike_in_one_operation(
    injector: Injector, connection: sqlite3.Connection, path: str
) -> None:
    def careful() -> None:
        try:
            batch(connection)
        except sqlite3.Error:
            connection.rollback()
            raise

    armed_plans = injector.arm(
        engine(Fault.TRIGGER_ABORT, 4, row=1), Plan(Fault.RAISE, Place(Event.ROLLBACK))
    )
    with pytest.raises(sqlite3.OperationalError, match="1st rollback"):
        careful()
    with pytest.raises(FaultsError, match="heal first"):
        injector.count(careful)
    injector.heal()
    assert [armed.fired for armed in armed_plans] == [1, 1]
    assert write_locked(path)
