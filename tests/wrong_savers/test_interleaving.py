"""Two callers at once show each wrong saver of the concurrency family."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG
from tests.wrong_savers.concurrency import (
    BusyIsSwallowed,
    CheckThenInsert,
    ConfigKeptOnTheSaver,
    LockOfOneProcess,
    NoBusyTimeout,
    NoLock,
    OneCursorForAll,
    OneDocument,
    TablesCheckedThenMade,
    WritesReadAndWrittenBack,
)
from tests.wrong_savers.instances import (
    CountAskedForTooLate,
    SizeTellsOfChanges,
)
from tests.wrong_savers.loops import (
    LaterPagesOnTheLoop,
    LockTakenOnTheLoop,
    SyncOnTheLoop,
    WritesOnTheLoop,
)
from tests.wrong_savers.lost_locks import LockLostToAReader
from tests.wrong_savers.readers import (
    ClearedTooEarly,
    FileReadTwice,
    FilledLate,
    LeaseNotLookedAt,
    Leasing,
    ListCountsFromTheNewest,
    ListHoldsATransaction,
    ListHoldsTheLock,
    ListIteratesTheDict,
    ReadInTwoSteps,
    ReadIsCounted,
    ReadRegistersTheThread,
    ReadUnderItsOwnLock,
    RowsSeenOneByOne,
)
from tests.wrong_savers.scenes.failing import (
    prepared,
    two,
    watched,
)
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import (
    opening,
    reading,
)


def in_a_thread(action: Callable[[], Any]) -> Any:
    """Return what the action returns in another thread."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(action()))
    thread.start()
    thread.join()
    return answers[0]


def test_a_read_fills_a_cache_that_was_cleared_too_early(tmp_path: Path) -> None:
    probe = prepared(Probe(opening(ClearedTooEarly), tmp_path, "sync"))
    assert probe.id_of() == 2
    put = SqliteReference.put

    def late(self: Any, *arguments: Any) -> Any:
        assert probe.id_of() == 2
        return put(self, *arguments)

    with mock.patch.object(SqliteReference, "put", late):
        probe.put(3, parent=2)
    assert probe.id_of() == 2


def test_a_slow_read_fills_a_cache_that_was_cleared(tmp_path: Path) -> None:
    probe = prepared(Probe(opening(FilledLate), tmp_path, "sync"))
    get_tuple = SqliteReference.get_tuple

    def slow(self: Any, config: Any) -> Any:
        found = get_tuple(self, config)
        if not ran:
            ran.append(True)
            probe.put(3, parent=2)
        return found

    ran: list[bool] = []
    with mock.patch.object(SqliteReference, "get_tuple", slow):
        assert probe.id_of() == 2
    assert probe.id_of() == 2


def test_what_is_put_during_a_read_is_in_the_count_that_is_kept_with_it(tmp_path: Path) -> None:
    first, second = two(CountAskedForTooLate, tmp_path)
    changes_by_others = CountAskedForTooLate._changes_by_others

    def late(self: Any) -> Any:
        if not ran:
            ran.append(True)
            second.put(3, parent=2)
        return changes_by_others(self)

    ran: list[bool] = []
    with mock.patch.object(CountAskedForTooLate, "_changes_by_others", late):
        assert first.id_of() == 2
    assert first.id_of() == 2


@pytest.mark.parametrize("saver", [WritesReadAndWrittenBack, LockOfOneProcess])
def test_writes_between_reading_and_writing_back_are_lost(saver: Any, tmp_path: Path) -> None:
    first, second = two(saver, tmp_path)
    added = OneDocument._added

    def interrupted(self: Any, place: Any, batch: Any) -> Any:
        document = added(self, place, batch)
        if self is first.saver:
            self.database.connection.execute("ROLLBACK")
            second.write(2, [("x", "second")], "t8")
        return document

    with mock.patch.object(OneDocument, "_added", interrupted):
        first.write(2, [("x", "first")], "t7")
    assert "t8" not in {task for task, *_ in first.pending("a", "", 2)}


def test_a_row_inserted_after_the_check_is_refused(tmp_path: Path) -> None:
    first, second = two(CheckThenInsert, tmp_path)
    insert = CheckThenInsert._insert_new

    def interrupted(self: Any, place: Any, row: Any) -> None:
        self.database.connection.execute("ROLLBACK")
        second.write(2, [("x", "second")], "t7")
        self.database.connection.execute("BEGIN IMMEDIATE")
        with mock.patch.object(CheckThenInsert, "_insert_new", insert):
            insert(self, place, row)

    with mock.patch.object(CheckThenInsert, "_insert_new", interrupted):
        assert first.write(2, [("x", "first")], "t7") == "raised IntegrityError"


def test_a_put_is_stored_below_what_the_next_call_names(tmp_path: Path) -> None:
    probe = prepared(Probe(opening(ConfigKeptOnTheSaver), tmp_path, "sync"))
    insert = ConfigKeptOnTheSaver._insert_checkpoint

    def interrupted(self: Any, row: Any) -> None:
        self.config = probe.config("a", "", 1)
        insert(self, row)

    with mock.patch.object(ConfigKeptOnTheSaver, "_insert_checkpoint", interrupted):
        probe.put(3, parent=2)
    assert probe.tuple("a", "", 3).parent_config == probe.config("a", "", 1)


def test_a_locked_store_loses_a_write_in_silence(tmp_path: Path) -> None:
    first, second = two(BusyIsSwallowed, tmp_path)
    second.saver.database.begin()
    assert first.write(2, [("x", 1)], "t8") is None
    second.saver.database.roll_back()
    assert "t8" not in {task for task, *_ in first.pending("a", "", 2)}


def test_a_transaction_can_begin_within_another(tmp_path: Path) -> None:
    probe = prepared(Probe(opening(NoLock), tmp_path, "sync"))
    answers = []
    with pytest.raises(sqlite3.OperationalError), probe.saver.database.writing():
        answers.append(in_a_thread(lambda: probe.write(2, [("x", 1)], "t8")))
    assert answers == ["raised OperationalError"]


def test_one_cursor_gives_another_readers_rows(tmp_path: Path) -> None:
    database: Any = OneCursorForAll.at(tmp_path).database
    database.cursor.execute("SELECT 'mine'")
    database.rows("SELECT 'yours'")
    assert database.cursor.fetchall() == []


@pytest.mark.parametrize("saver", [RowsSeenOneByOne, ReadInTwoSteps, ReadUnderItsOwnLock])
def test_half_an_operation_is_seen(saver: Any, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    seen: list[Any] = []
    other = reading(tmp_path)

    def between(statement: str) -> None:
        if saver is RowsSeenOneByOne and statement.startswith("INSERT OR IGNORE"):
            seen.append(len(other.get_tuple(probe.config()).pending_writes))
        elif saver is not RowsSeenOneByOne and statement.startswith("SELECT task"):
            other.delete_thread("a")

    with watched(probe.saver, between):
        if saver is RowsSeenOneByOne:
            probe.write(2, [("x", 1), ("x", 2)], "t8")
            assert seen == [2, 3]
        else:
            assert probe.pending("a", "", 2) == []


def test_a_lease_that_is_not_renewed_keeps_nobody_out(tmp_path: Path) -> None:
    first, second = two(LeaseNotLookedAt, tmp_path)

    def between(statement: str) -> None:
        if statement.startswith("SELECT task"):
            for lease in first.saver.database.path.parent.glob("read-by-*"):
                os.utime(lease, (0, 0))
            second.saver.delete_thread("a")

    with mock.patch.object(Leasing, "renew"), watched(first.saver, between):
        assert first.pending("a", "", 2) == []


def test_a_file_is_written_between_two_readings_by_who_knows_no_lock_of_the_module(
    tmp_path: Path,
) -> None:
    probe = prepared(Probe(opening(FileReadTwice), tmp_path, "sync"))
    read = probe.saver.catch_up
    readings: list[Any] = []

    def between() -> None:
        readings.append(None)
        if len(readings) == 2:
            with closing(StateFileReference.at(tmp_path)) as other:
                other.delete_thread("a")
        read()

    probe.saver.catch_up = between
    assert probe.pending("a", "", 2) == []


@pytest.mark.parametrize("saver", [ListHoldsTheLock, ListHoldsATransaction])
def test_a_paused_list_keeps_others_out(saver: Any, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    listing = probe.saver.list(probe.config())
    next(listing)
    assert not in_a_thread(lambda: probe.saver.database.lock.acquire(blocking=False))
    listing.close()
    assert in_a_thread(lambda: probe.saver.database.lock.acquire(blocking=False))


@pytest.mark.parametrize(("saver", "listed"), [(SqliteReference, 2), (ListCountsFromTheNewest, 3)])
def test_a_put_shifts_the_pages_of_a_paused_list(saver: Any, listed: int, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    listing = probe.saver.list(probe.config())
    next(listing)
    probe.put(3)
    assert 1 + len([*listing]) == listed


@pytest.mark.parametrize(("saver", "found"), [(StateFileReference, 2), (SizeTellsOfChanges, 1)])
def test_what_is_as_long_as_before_looks_unchanged(saver: Any, found: int, tmp_path: Path) -> None:
    first, second = (Probe(opening(saver), tmp_path, "sync") for _ in range(2))
    first.put(1, metadata={"count": 1})
    second.tuple()
    first.put(1, metadata={"count": 2})
    assert second.tuple().metadata["count"] == found


def test_a_put_breaks_a_paused_list() -> None:
    probe = prepared(Probe(ReferenceSaver.at, Path("paused"), "sync"))
    ReferenceStore.forget(Path("paused"))
    probe.saver = ListIteratesTheDict(probe.saver.store)
    listing = probe.saver.list(probe.config())
    next(listing)
    probe.put(3)
    with pytest.raises(RuntimeError, match="changed size"):
        next(listing)


@pytest.mark.parametrize("saver", [ReadRegistersTheThread, ReadIsCounted])
def test_a_question_changes_the_store(saver: Any, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    before = list(probe.saver.database.connection.iterdump())
    probe.tuple("nobody")
    assert list(probe.saver.database.connection.iterdump()) != before


def test_a_second_opening_finds_the_store_locked(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "checkpoints.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        NoBusyTimeout.at(tmp_path)
    other.close()


def test_tables_made_between_check_and_making_are_refused(tmp_path: Path) -> None:
    class Late(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> Any:
            if statement.startswith("CREATE"):
                SqliteReference.at(tmp_path).close()
            return super().execute(statement, *values)

    database = TablesCheckedThenMade.database_class
    late = Late(tmp_path / "checkpoints.db", isolation_level=None)
    patched = mock.patch.object(database, "open", return_value=late)
    with patched, pytest.raises(sqlite3.OperationalError, match="already exists"):
        TablesCheckedThenMade.at(tmp_path)
    late.close()


class Entered:
    """In place of a lock: notes by which threads it is taken."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def __enter__(self) -> None:
        self.threads.add(threading.get_ident())

    def __exit__(self, *exc_info: object) -> None: ...


@pytest.mark.parametrize(
    ("saver", "on_the_loop"),
    [
        (SyncOnTheLoop, {"write", "tuple", "ids"}),
        (WritesOnTheLoop, {"write"}),
        (LaterPagesOnTheLoop, {"ids"}),
        (LockTakenOnTheLoop, {"tuple"}),
    ],
)
def test_the_loops_own_thread_takes_a_lock_of_the_database(
    saver: Any, on_the_loop: set[str], tmp_path: Path
) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    calls: dict[str, Callable[[], Any]] = {
        "write": lambda: probe.saver.aput_writes(probe.config("a", "", 2), [("x", 1)], "t8"),
        "tuple": lambda: probe.saver.aget_tuple(probe.config()),
        "ids": lambda: anext(aiter(listed(probe))),
    }
    seen = set()
    for name, call in calls.items():
        entered = Entered()
        probe.saver.database.lock = probe.saver.counting = entered
        asyncio.run(awaited(call))
        if threading.get_ident() in entered.threads:
            seen.add(name)
    assert seen == on_the_loop


async def awaited(call: Callable[[], Any]) -> None:
    await call()


async def listed(probe: Probe) -> Any:
    yield [found async for found in probe.saver.alist(probe.config())]


def test_every_wrong_saver_of_the_concurrency_family_is_looked_at() -> None:
    here = Path(__file__)
    others = [here.with_name(f"test_{name}.py") for name in ("instances", "upkeep")]
    text = "".join(file.read_text() for file in (here, *others))
    savers = [w.saver.__name__ for w in WRONG if w.breaks.startswith("concurrency/")]
    assert [name for name in savers if text.count(name) < 2] == []


def test_a_read_loses_the_lock_that_keeps_other_processes_out(tmp_path: Path) -> None:
    take = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)"

    def is_locked() -> bool:
        command = [sys.executable, "-c", take, tmp_path / "lock"]
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0

    probe = prepared(Probe(opening(LockLostToAReader), tmp_path, "sync"))
    with probe.saver.turn():
        assert is_locked()
        assert probe.id_of() == 2
        assert not is_locked()
