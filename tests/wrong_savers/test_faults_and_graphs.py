"""The wrong savers of the fault, crash, concurrency and graph families do go wrong."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

from tests.reference.database import Database
from tests.reference.saver import ReferenceSaver
from tests.reference.sqlite import SqliteReference
from tests.reference.store import Store
from tests.wrong_savers import WRONG, WrongSaver
from tests.wrong_savers.concurrency import (
    BusyIsSwallowed,
    CacheOfTheInstance,
    CheckThenInsert,
    ListHoldsATransaction,
    ListHoldsTheLock,
    ListIteratesTheDict,
    LockOfOneProcess,
    NoBusyTimeout,
    NoLock,
    OneCursorForAll,
    OneDocument,
    ReaderNeverEnds,
    ReadInTwoSteps,
    ReadIsCounted,
    ReadRegistersTheThread,
    RowsSeenOneByOne,
    TablesCheckedThenMade,
    WritesReadAndWrittenBack,
)
from tests.wrong_savers.scenes.failing import (
    OPERATIONS,
    failed_everywhere,
    lost_or_torn,
    prepared,
    rows,
    stopped_everywhere,
    survivors,
    watched,
)
from tests.wrong_savers.scenes.graphs import GRAPHS
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.transactions import Stepwise


def of(family: str) -> pytest.MarkDecorator:
    """Parametrize by the wrong savers of a family."""
    found = [wrong for wrong in WRONG if wrong.breaks.startswith(f"{family}/")]
    return pytest.mark.parametrize("wrong", found, ids=lambda wrong: wrong.name)


def reading(folder: Path) -> Any:
    """Return a right saver on the store."""
    return SqliteReference.at(folder)


def opening(saver: Any) -> Callable[[Path], Any]:
    """Return what opens the saver in a folder, making the folder."""

    def open_at(path: Path) -> Any:
        path.mkdir(parents=True, exist_ok=True)
        instance = saver.at(path)
        instance.setup()
        return instance

    return open_at


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out the syncs, where no test looks at them."""
    with mock.patch.object(Database, "synchronous", "OFF"):
        yield


# -- atomicity ----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def after_failures() -> Any:
    """What the SQLite reference shows after each failure."""
    with TemporaryDirectory() as folder:
        return failed_everywhere(opening(SqliteReference), Path(folder), "sync")


def test_the_reference_leaves_nothing_of_a_failed_operation(tmp_path: Path) -> None:
    before = rows(prepared(Probe(opening(SqliteReference), tmp_path, "sync")).path)
    failures = [entry for entry in after_failures() if len(entry) == 5 and entry[3]]
    assert len({name for name, *_ in failures}) == len(OPERATIONS)
    assert all(seen == before for *_, seen in failures)


@of("atomicity")
def test_a_failing_statement_shows_the_mistake(wrong: WrongSaver, tmp_path: Path) -> None:
    if wrong.breaks == "atomicity/usable-after-lost-connection":
        assert lost(SqliteReference, tmp_path / "right") == 2
        assert lost(wrong.saver, tmp_path / "wrong") == "raised ProgrammingError"
    elif wrong.breaks == "atomicity/cancelled":
        assert cancelled(wrong.saver, tmp_path / "wrong") != cancelled(
            CleanlyStepwise, tmp_path / "right"
        )
    else:
        found = failed_everywhere(opening(wrong.saver), tmp_path, "sync")
        assert found != after_failures()


def lost(saver: Any, folder: Path) -> Any:
    """Close the connection behind the saver's back, and ask for the latest."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.saver.database.connection.close()
    return probe.id_of()


class CleanlyStepwise(SqliteReference):
    aput_writes = Stepwise.aput_writes
    _gate = Stepwise._gate

    def _transaction(self) -> Any:
        return Cleanly(self.database)


class Cleanly:
    """The database's own transaction, as an async context manager."""

    def __init__(self, database: Any) -> None:
        self._transaction = database.writing()

    async def __aenter__(self) -> None:
        self._transaction.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self._transaction.__exit__(*error)


def cancelled(saver: Any, folder: Path) -> Any:
    """Cancel a batch at its second row, and look."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    coroutine = probe.saver.aput_writes(probe.config("a", "", 2), [("x", 1), ("x", 2)], "t9", "")
    coroutine.send(None)
    with pytest.raises(asyncio.CancelledError):
        coroutine.throw(asyncio.CancelledError())
    seen = rows(probe.path), probe.saver._gate().locked()
    probe.attempt(probe.saver.close)
    return seen


# -- durability ---------------------------------------------------------------------------


def test_the_reference_loses_nothing_and_tears_nothing(tmp_path: Path) -> None:
    moments = stopped_everywhere(opening(SqliteReference), tmp_path, "sync")
    assert len(moments) > 40
    assert not lost_or_torn(moments)


@of("durability")
def test_a_stopped_process_shows_the_mistake(wrong: WrongSaver, tmp_path: Path) -> None:
    if wrong.breaks == "durability/power-cut":
        saver = wrong.saver.at(tmp_path)
        assert "synchronous" in vars(type(saver.database))
        assert saver.database.rows("PRAGMA synchronous") == [(0,)]
        saver.close()
    elif issubclass(wrong.saver, ReferenceSaver):
        assert state_file_is_lost(wrong.saver, tmp_path)
    elif wrong.name == "no-journal":
        saver = wrong.saver.at(tmp_path)
        assert saver.database.rows("PRAGMA journal_mode") == [("off",)]
        saver.close()
    else:
        moments = stopped_everywhere(opening(wrong.saver), tmp_path, "sync")
        seen_lost = any("versions_seen" in wrong.note for _ in moments)
        assert lost_or_torn(moments) or seen_lost or forgets_what_was_seen(wrong.saver, tmp_path)


def state_file_is_lost(saver: Any, folder: Path) -> bool:
    """Stop while the state file is open for writing."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    if survivors(opening(saver), folder) == []:
        return True
    killed = mock.patch("tests.wrong_savers.crashes.state_of", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        probe.put(3)
    return "raised" in str(survivors(opening(saver), folder))


def forgets_what_was_seen(saver: Any, folder: Path) -> bool:
    """Whether a reopened store still knows what the nodes have seen."""
    probe = Probe(opening(saver), folder / "seen", "sync")
    probe.put(1, versions_seen={"n": {"x": "1"}})
    probe.reopen()
    found = probe.tuple()
    probe.saver.close()
    return found is None or found.checkpoint["versions_seen"] == {}


# -- concurrency --------------------------------------------------------------------------


def in_a_thread(action: Callable[[], Any]) -> Any:
    """Return what the action returns in another thread."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(action()))
    thread.start()
    thread.join()
    return answers[0]


def two(saver: Any, folder: Path) -> tuple[Probe, Probe]:
    """Two savers on one store."""
    first = prepared(Probe(opening(saver), folder, "sync"))
    return first, Probe(opening(saver), folder, "sync")


@pytest.mark.parametrize("saver", [CacheOfTheInstance, ReaderNeverEnds])
def test_what_another_instance_wrote_is_not_seen(saver: Any, tmp_path: Path) -> None:
    first, second = two(saver, tmp_path)
    assert first.id_of() == 2
    second.put(3, parent=2)
    assert first.id_of() == 2
    assert reading(tmp_path).get_tuple(first.config()).checkpoint["id"] == first.id(3)


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


@pytest.mark.parametrize("saver", [RowsSeenOneByOne, ReadInTwoSteps])
def test_half_an_operation_is_seen(saver: Any, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    seen: list[Any] = []
    other = reading(tmp_path)

    def between(statement: str) -> None:
        if saver is RowsSeenOneByOne and statement.startswith("INSERT OR IGNORE"):
            seen.append(len(other.get_tuple(probe.config()).pending_writes))
        elif saver is ReadInTwoSteps and statement.startswith("SELECT task"):
            other.delete_thread("a")

    with watched(probe.saver, between):
        if saver is RowsSeenOneByOne:
            probe.write(2, [("x", 1), ("x", 2)], "t8")
            assert seen == [2, 3]
        else:
            assert probe.pending("a", "", 2) == []


@pytest.mark.parametrize("saver", [ListHoldsTheLock, ListHoldsATransaction])
def test_a_paused_list_keeps_others_out(saver: Any, tmp_path: Path) -> None:
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    listing = probe.saver.list(probe.config())
    next(listing)
    assert not in_a_thread(lambda: probe.saver.database.lock.acquire(blocking=False))
    listing.close()
    assert in_a_thread(lambda: probe.saver.database.lock.acquire(blocking=False))


def test_a_put_breaks_a_paused_list() -> None:
    probe = prepared(Probe(ReferenceSaver.at, Path("paused"), "sync"))
    Store.forget(Path("paused"))
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


def test_every_wrong_saver_of_the_concurrency_family_is_looked_at() -> None:
    text = Path(__file__).read_text()
    savers = [w.saver.__name__ for w in WRONG if w.breaks.startswith("concurrency/")]
    assert [name for name in savers if text.count(name) < 2] == []


# -- graph --------------------------------------------------------------------------------


def ran(graph: str, saver: Any) -> Any:
    """What a graph does on a saver."""
    try:
        return GRAPHS[graph](saver)
    except Exception as error:  # noqa: BLE001 (any exception is an answer)
        return f"raised {type(error).__name__}"


@of("graph")
def test_a_graph_runs_otherwise(wrong: WrongSaver) -> None:
    expected = ran(wrong.breaks, ReferenceSaver())
    assert not isinstance(expected, str)
    assert ran(wrong.breaks, wrong.saver()) != expected
