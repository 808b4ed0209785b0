"""Connections in hand, and drivers other than sqlite3, with the same places and faults."""

import asyncio
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from saverproof_faults import (
    KNOWN_DRIVERS,
    ClassDriver,
    Driver,
    Event,
    Fault,
    FaultsError,
    Injector,
    Moment,
    Place,
    Plan,
    loaded_drivers,
    why_nothing_passed,
    wrap,
)


class OperationalError(Exception):
    """The stand-in driver's."""


class Cursor:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def execute(self, sql: str, parameters: object = None) -> "Cursor":
        self.log.append(sql)
        return self

    def executemany(self, sql: str, rows: Iterable[object]) -> None:
        self.log.extend(f"{sql} {row}" for row in rows)


class Connection:
    def __init__(self) -> None:
        self.log: list[str] = []

    def cursor(self) -> Cursor:
        return Cursor(self.log)

    def commit(self) -> None:
        self.log.append("commit")

    def rollback(self) -> None:
        self.log.append("rollback")


class AsyncCursor:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def execute(self, sql: bytes) -> None:
        self.log.append(sql.decode())

    async def executemany(self, sql: str, rows: Iterable[object]) -> None:
        self.log.extend(f"{sql} {row}" for row in rows)


class Block:
    """A transaction block."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.log.append("COMMIT" if kind is None else "ROLLBACK")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> ClassDriver:
    module = ModuleType("stand_in_driver")
    for defined in (OperationalError, Cursor, Connection, AsyncCursor, Block):
        setattr(module, defined.__name__, defined)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    name = module.__name__
    return ClassDriver(
        name=name,
        modules=(name,),
        errors=name,
        methods={
            f"{name}:Cursor.execute": "execute",
            f"{name}:Cursor.executemany": "executemany",
            f"{name}:AsyncCursor.execute": "execute",
            f"{name}:AsyncCursor.executemany": "executemany",
            f"{name}:Connection.commit": "commit",
            f"{name}:Connection.rollback": "rollback",
            f"{name}:Block.__exit__": "leave",
        },
    )


def program(connection: Connection) -> None:
    connection.cursor().execute("INSERT a", None)
    connection.cursor().executemany("INSERT", [1, 2, 3])
    connection.commit()


def left_after(plan: Plan, injector: Injector) -> list[str]:
    connection = Connection()
    with injector.armed(plan) as armed, pytest.raises(OperationalError):
        program(connection)
    armed.require_fired()
    return connection.log


def test_a_declared_driver_is_counted_and_failed(driver: ClassDriver) -> None:
    whole = ["INSERT a", "INSERT 1", "INSERT 2", "INSERT 3", "commit"]
    with Injector([driver]) as injector:
        places = injector.count(lambda: program(Connection()))
        left = [left_after(plan, injector) for plan in places.plans()]
    assert left == [whole[:length] for length in (0, 1, 1, 2, 3, 4, 4, 5)]


@pytest.mark.parametrize(
    ("place", "left"),
    [
        (Place(Event.STATEMENT, 1), ["refused"]),
        (Place(Event.STATEMENT, 1, Moment.AFTER), ["INSERT a", "refused"]),
        (Place(Event.COMMIT, 1), ["INSERT a", "INSERT 1", "INSERT 2", "INSERT 3", "rollback"]),
        (
            Place(Event.COMMIT, 1, Moment.AFTER),
            ["INSERT a", "INSERT 1", "INSERT 2", "INSERT 3", "commit"],
        ),
    ],
)
def test_a_server_has_refused_what_fails(
    driver: ClassDriver, place: Place, left: list[str]
) -> None:
    with Injector([replace(driver, refused="refused")]) as injector:
        assert left_after(Plan(Fault.RAISE, place), injector) == left


def test_a_declared_asynchronous_driver_is_counted_and_failed(driver: ClassDriver) -> None:
    log: list[str] = []

    async def operation() -> None:
        await AsyncCursor(log).execute(b"INSERT a")
        await AsyncCursor(log).executemany("INSERT", [1, 2])

    async def sweep() -> None:
        with Injector([driver]) as injector:
            with injector.counting() as counting:
                await operation()
            left = []
            for plan in counting.places.plans():
                log.clear()
                with injector.armed(plan), pytest.raises(OperationalError):
                    await operation()
                left.append(len(log))
            assert left == [0, 1, 1, 2, 3]

    asyncio.run(sweep())


def test_leaving_a_block_is_its_commit_or_its_rollback(driver: ClassDriver) -> None:
    log: list[str] = []

    def leave(error: Exception | None) -> None:
        with Block(log):
            if error is not None:
                raise error

    with Injector([driver]) as injector:
        assert [call.event for call in injector.count(lambda: leave(None)).calls] == [Event.COMMIT]
        plan = Plan(Fault.RAISE, Place(Event.ROLLBACK, moment=Moment.AFTER))
        with injector.armed(plan), pytest.raises(OperationalError):
            leave(KeyError())
    assert log == ["COMMIT", "ROLLBACK"]


def test_a_driver_is_as_it_was_afterwards(driver: ClassDriver) -> None:
    true = Cursor.__dict__["execute"]
    with Injector([driver]):
        assert Cursor.__dict__["execute"] is not true
    assert Cursor.__dict__["execute"] is true


@pytest.mark.parametrize("path", ["Cursor.explode", "Nothing.execute"])
def test_a_declaration_that_does_not_fit_is_refused_and_undone(
    driver: ClassDriver, path: str
) -> None:
    true = Cursor.__dict__["execute"]
    methods = {**driver.methods, f"{driver.name}:{path}": "execute"}
    wrong = ClassDriver(driver.name, driver.modules, driver.errors, methods)
    with pytest.raises(FaultsError, match="stand_in_driver"), Injector([wrong]):
        pass
    assert Cursor.__dict__["execute"] is true
    with Injector():
        pass


def test_a_driver_names_an_exception_that_it_has(driver: ClassDriver) -> None:
    wrong = replace(driver, operational="PostgresError")
    with pytest.raises(FaultsError, match="has no exception 'PostgresError'"), Injector([wrong]):
        pass


def test_known_drivers_are_drivers_and_loaded_ones_are_found(driver: ClassDriver) -> None:
    assert all(isinstance(known, Driver) for known in KNOWN_DRIVERS.values())
    assert isinstance(driver, Driver)
    assert "sqlite3" in loaded_drivers()


def test_the_reason_for_nothing_names_what_could_be_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "oracledb", ModuleType("oracledb"))
    with Injector() as injector:
        assert not injector.count(lambda: None)
    reason = why_nothing_passed()
    # Other tests may have loaded others.
    assert re.search(r"loaded but without hooks: ([a-z]+, )*oracledb;", reason)
    assert "ClassDriver" in reason


@pytest.fixture
def wrapped() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        yield wrap(connection)


def test_a_wrapped_connection_passes_for_what_it_wraps(wrapped: sqlite3.Connection) -> None:
    assert isinstance(wrapped, sqlite3.Connection)
    assert isinstance(wrapped.cursor(), sqlite3.Cursor)
    wrapped.row_factory = sqlite3.Row
    assert wrapped.execute("SELECT 7 AS seven").fetchone()["seven"] == 7
    assert [tuple(row) for row in wrapped.execute("SELECT 1 UNION SELECT 2")] == [(1,), (2,)]
    assert wrapped.total_changes == 0


def test_a_connection_in_hand_is_failed_through_its_wrapper(wrapped: sqlite3.Connection) -> None:
    def operation() -> None:
        with wrapped:
            wrapped.execute("INSERT INTO t VALUES (1)")
            wrapped.cursor().executemany("INSERT INTO t VALUES (?)", [(2,), (3,)])

    with Injector() as injector:
        places = injector.count(operation)
        assert len(places.calls) == 3
        wrapped.execute("DELETE FROM t")
        wrapped.commit()
        for plan in places.plans():
            with injector.armed(plan) as armed, pytest.raises(sqlite3.OperationalError):
                operation()
            armed.require_fired()
            assert not wrapped.in_transaction
    assert wrapped.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_connection_of_no_known_module_needs_its_errors_named() -> None:
    with pytest.raises(TypeError, match="no module of object"):
        wrap(object())
