"""The few lines of a reproducer do to a program what the injector did."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from saverproof_faults import (
    ArmedPlan,
    Event,
    Fault,
    FaultsError,
    Injector,
    Moment,
    Place,
    Places,
    Plan,
    outside_view,
)
from saverproof_faults.scripted import UNDECIDED
from saverproof_faults.standalone import source

Outcome = tuple[object, ...]


@pytest.fixture(autouse=True)
def _connect_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    # The text of a reproducer patches, and never undoes it.
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", sqlite3.connect)


def prepared(path: str, journal: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
    connection.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    connection.commit()
    return connection


def operation(connection: sqlite3.Connection) -> None:
    try:
        with connection:
            connection.execute("UPDATE t SET y = y + 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(number, "x" * 3000) for number in range(3, 6)]
        )
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise


def outcome(
    path: str, journal: str, arm: Callable[[], object], heal: Callable[[], object]
) -> Outcome:
    error = "none"
    with closing(prepared(path, journal)) as connection:
        arm()
        try:
            operation(connection)
        except sqlite3.Error as raised:
            error = f"{type(raised).__name__}: {raised}".partition(": raised on purpose")[0]
        heal()
        seen = outside_view(path)
        return error, connection.in_transaction, seen.write_locked, seen.tables


def places_of(journal: str, folder: Path) -> Places:
    path = str(folder / "clean.db")
    with Injector() as injector, closing(prepared(path, journal)) as connection:
        return injector.count(lambda: operation(connection))


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_every_fault_without_the_kit_ends_as_with_it(tmp_path: Path, journal: str) -> None:
    places = places_of(journal, tmp_path)
    plans = places.plans()
    expected_kinds = 8 if journal == "WAL" else 9
    assert len({plan.fault for plan in plans}) == expected_kinds
    plain = sqlite3.connect
    for number, plan in enumerate(plans):
        with Injector() as injector:
            arm = partial(injector.arm, plan)
            expected = outcome(str(tmp_path / f"{number}-with.db"), journal, arm, injector.heal)
        (armed,) = injector.report.armed_plans
        armed.require_fired()
        text = source(armed, places)
        assert "saverproof" not in text
        assert len(text.splitlines()) <= 32
        names: dict[str, Any] = {}
        exec(text, names)
        found = outcome(
            str(tmp_path / f"{number}-without.db"), journal, names["Fault"].arm, names["Fault"].heal
        )
        sqlite3.connect = sqlite3.dbapi2.connect = plain
        if "on_open" in names:
            names["sqlite"].sqlite3_cancel_auto_extension(names["on_open"])
        assert found == expected, plan.describe()


@pytest.mark.parametrize("moment", list(Moment))
@pytest.mark.parametrize("index", [1, 2])
def test_a_cancellation_without_the_kit_ends_as_with_it(
    tmp_path: Path, index: int, moment: Moment
) -> None:
    plan = Plan(Fault.CANCEL, Place(Event.AWAIT, index, moment))
    names: dict[str, Any] = {}
    exec(source(ArmedPlan(plan), Places()), names)

    async def insert(connection: aiosqlite.Connection) -> None:
        await connection.execute("INSERT INTO t VALUES (1)")
        await connection.commit()

    async def with_kit(connection: aiosqlite.Connection) -> None:
        with Injector() as injector:
            await injector.cancel(lambda: insert(connection), plan)

    async def without(connection: aiosqlite.Connection) -> None:
        await names["cancelled"](insert(connection))

    async def left(cancel: Any, name: str) -> object:
        path = str(tmp_path / name)
        async with aiosqlite.connect(path) as connection:
            await connection.execute("CREATE TABLE t (x)")
            await connection.commit()
            await cancel(connection)
            seen = outside_view(path)
            return seen.write_locked, seen.tables["t"].rows, connection.in_transaction

    async def both() -> None:
        assert await left(without, "without.db") == await left(with_kit, "with.db")

    asyncio.run(both())


def test_what_suspends_too_seldom_to_be_cancelled_there_shows_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names: dict[str, Any] = {}
    exec(source(ArmedPlan(Plan(Fault.CANCEL, Place(Event.AWAIT, 3))), Places()), names)
    with pytest.raises(SystemExit) as ended:
        asyncio.run(names["cancelled"](asyncio.sleep(0)))
    assert ended.value.code == UNDECIDED
    assert capsys.readouterr().out == "undecided: it suspended 1 times, and was not cancelled\n"


def test_a_row_of_a_table_that_is_no_more_shows_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = places_of("WAL", tmp_path)
    plan = next(plan for plan in places.plans() if plan.fault is Fault.TRIGGER_ABORT)
    names: dict[str, Any] = {}
    exec(source(ArmedPlan(plan), places), names)
    with closing(sqlite3.connect(tmp_path / "mended.db")), pytest.raises(SystemExit) as ended:
        names["Fault"].arm()
    assert ended.value.code == UNDECIDED
    assert capsys.readouterr().out.startswith(
        "undecided: no write to t can be made to fail: no such table"
    )


def test_faults_that_need_the_kit_say_so() -> None:
    with pytest.raises(FaultsError, match="cannot be reproduced without"):
        source(ArmedPlan(Plan(Fault.IO_ERROR, Place(Event.WRITE))), Places())
