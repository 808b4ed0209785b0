"""Sweeps over programs that nobody prepared: careful ones hold, careless ones are caught."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Protocol

import aiosqlite
import pytest
import sqlalchemy

from saverproof_faults import Fault, Injector, Plan, count_awaits, outside_view, write_locked

KEYS = ["a", "b", "c"]
TABLE = "CREATE TABLE IF NOT EXISTS t (key PRIMARY KEY, value)"
INSERT = "INSERT OR REPLACE INTO t VALUES (?, 1)"


class Store(Protocol):
    """What the sweeps below use of a program."""

    def add(self, keys: list[str]) -> None: ...
    def close(self) -> None: ...


class Careful:
    """Connects inside its class, and rolls back whatever fails."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(TABLE)
        self.connection.commit()

    def add(self, keys: list[str]) -> None:
        try:
            self.connection.executemany(INSERT, [(key,) for key in keys])
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise

    def close(self) -> None:
        self.connection.close()


class CommitsInFinally(Careful):
    def add(self, keys: list[str]) -> None:
        try:
            self.connection.executemany(INSERT, [(key,) for key in keys])
        finally:
            self.connection.commit()


class NeverRollsBack(Careful):
    def add(self, keys: list[str]) -> None:
        self.connection.executemany(INSERT, [(key,) for key in keys])
        self.connection.commit()


class CommitsEachRow(Careful):
    def add(self, keys: list[str]) -> None:
        for key in keys:
            with self.connection:
                self.connection.execute(INSERT, (key,))


class SwallowsErrors(Careful):
    def add(self, keys: list[str]) -> None:
        with suppress(sqlite3.Error):
            super().add(keys)


class OpensEachTime:
    """A connection for each operation, closed at its end."""

    def __init__(self, path: str) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(TABLE)

    def add(self, keys: list[str]) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.executemany(INSERT, [(key,) for key in keys])

    def close(self) -> None: ...


class ThroughSqlalchemy:
    def __init__(self, path: str) -> None:
        self.engine = sqlalchemy.create_engine(f"sqlite:///{path}")
        with self.engine.begin() as connection:
            connection.execute(sqlalchemy.text(TABLE))

    def add(self, keys: list[str]) -> None:
        insert = sqlalchemy.text("INSERT OR REPLACE INTO t VALUES (:key, 1)")
        with self.engine.begin() as connection:
            connection.execute(insert, [{"key": key} for key in keys])

    def close(self) -> None:
        self.engine.dispose()


class Flaws(set[str]):
    """What a sweep found, in one word each."""

    def judge(self, path: str, raised: bool, add_another: Callable[[], object]) -> None:
        left = outside_view(path).tables["t"].rows
        if left not in (0, 3):
            self.add("torn")
        if left == 0 and not raised:
            self.add("lost")
        if write_locked(path):
            self.add("locked")
        add_another()
        if outside_view(path).tables["t"].rows != left + 1:
            self.add("late")


def sweep(opened: Callable[[str], Store], folder: Path) -> Flaws:
    flaws = Flaws()
    with Injector() as injector:
        with closing(opened(str(folder / "clean.db"))) as store:
            places = injector.count(lambda: store.add(KEYS))
        plans = places.plans()
        assert len(plans) > 14
        assert places.unproxied_statements == 0
        for number, plan in enumerate(plans):
            path = str(folder / f"{number}.db")
            with closing(opened(path)) as store:
                raised = failed(injector, plan, partial(store.add, KEYS))
                flaws.judge(path, raised, partial(store.add, ["another"]))
        assert injector.report.never_fired == ()
    return flaws


def failed(injector: Injector, plan: Plan, operation: Callable[[], object]) -> bool:
    with injector.armed(plan):
        try:
            operation()
        except (sqlite3.Error, sqlalchemy.exc.SQLAlchemyError):
            return True
    # Nobody hears of a rollback that fails on the way back to a pool.
    return plan.place.event.value == "rollback"


@pytest.mark.parametrize(
    ("opened", "flaws"),
    [
        (Careful, set()),
        (OpensEachTime, set()),
        (ThroughSqlalchemy, set()),
        (CommitsInFinally, {"torn", "locked", "late"}),
        (NeverRollsBack, {"locked", "late"}),
        (CommitsEachRow, {"torn"}),
        (SwallowsErrors, {"lost"}),
    ],
)
def test_a_stranger_is_swept_without_its_help(
    tmp_path: Path, opened: Callable[[str], Store], flaws: set[str]
) -> None:
    assert sweep(opened, tmp_path) == flaws


async def add_carefully(connection: aiosqlite.Connection, keys: list[str]) -> None:
    try:
        await connection.executemany(INSERT, [(key,) for key in keys])
        await connection.commit()
    except BaseException:
        await asyncio.shield(connection.rollback())
        raise


async def add_carelessly(connection: aiosqlite.Connection, keys: list[str]) -> None:
    await connection.executemany(INSERT, [(key,) for key in keys])
    await connection.commit()


AddAsync = Callable[[aiosqlite.Connection, list[str]], "asyncio.Future[None]"]


async def sweep_async(add: AddAsync, folder: Path) -> Flaws:
    flaws = Flaws()
    with Injector() as injector:
        async with aiosqlite.connect(folder / "clean.db") as connection:
            await prepare(connection)
            with injector.counting() as counting:
                clean = await count_awaits(lambda: add(connection, KEYS))
        for number, plan in enumerate((*counting.places.plans(), *clean.plans())):
            path = folder / f"{number}.db"
            async with aiosqlite.connect(path) as connection:
                await prepare(connection)
                await fail_async(injector, plan, add, connection)
                left = outside_view(str(path)).tables["t"].rows
                if write_locked(str(path)):
                    flaws.add("locked")
                await add(connection, ["another"])
                if outside_view(str(path)).tables["t"].rows != left + 1:
                    flaws.add("late")
        assert injector.report.never_fired == ()
        assert set(injector.report.by_side) == {"client-side", "engine-side", "cancellation"}
    return flaws


async def prepare(connection: aiosqlite.Connection) -> None:
    await connection.execute("PRAGMA journal_mode = WAL")
    await connection.execute(TABLE)


async def fail_async(
    injector: Injector, plan: Plan, add: AddAsync, connection: aiosqlite.Connection
) -> None:
    if plan.fault is Fault.CANCEL:
        await injector.cancel(lambda: add(connection, KEYS), plan)
        return
    with injector.armed(plan):
        with suppress(sqlite3.Error):
            await add(connection, KEYS)
        await injector.drain()


@pytest.mark.parametrize(
    ("add", "flaws"), [(add_carefully, set()), (add_carelessly, {"locked", "late"})]
)
def test_a_stranger_on_aiosqlite_is_swept_with_cancellations(
    tmp_path: Path, add: AddAsync, flaws: set[str]
) -> None:
    assert asyncio.run(sweep_async(add, tmp_path)) == flaws
