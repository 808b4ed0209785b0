"""Every write is all or nothing, whatever fails, and the saver works on afterwards."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from langgraph.checkpoint.serde.types import RESUME

from saverproof_savers import SqliteSaver, file_store, files
from tests.savers.faulty import Plan, faulty_connections
from tests.savers.helpers import at, numbers, put, values_of, writes_of

Operation = Callable[[SqliteSaver], object]

OPERATIONS: dict[str, Operation] = {
    "put": lambda s: put(s, 4, {"a": [4], "b": [4]}, parent=3),
    "put below another": lambda s: put(s, 4, {"a": [4]}, parent=1),
    "put again": lambda s: put(s, 3, {"a": ["changed"]}, parent=2),
    "copy-fork": lambda s: put(s, 5, {"a": [2]}, parent=1, versions={"a": 2}, new={}),
    "put_writes": lambda s: s.put_writes(at(number=3), [("a", n) for n in range(5)], "new"),
    "put_writes mixed": lambda s: s.put_writes(at(number=1), [(RESUME, 2), ("a", 2)], "task"),
    "delete_thread": lambda s: s.delete_thread("thread"),
    "delete_for_runs": lambda s: s.delete_for_runs(["run"]),
    "copy_thread": lambda s: s.copy_thread("thread", "copy"),
    "prune": lambda s: s.prune(["thread", "other"]),
}


def fill(saver: SqliteSaver) -> None:
    for number in (1, 2, 3):
        values, parent = {"a": [number]}, number - 1 or None
        put(saver, number, values, parent=parent, metadata={"run_id": "run"})
        saver.put_writes(at(number=number), [(RESUME, 1), ("a", 1)], "task")
    put(saver, 1, {"a": [1]}, thread_id="other")
    put(saver, 2, {"a": [2]}, thread_id="other")
    # Last of all, so that the next put finds its parent remembered.
    put(saver, 3, {"a": [3]}, parent=2, metadata={"run_id": "run"})


def everything(path: Path) -> list[Any]:
    """All rows, seen by a connection of its own."""
    with closing(sqlite3.connect(path, timeout=0)) as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5").fetchall()
            for table in ("checkpoints", "checkpoint_writes", "checkpoint_values")
        ]


def check_usable(saver: SqliteSaver, path: Path) -> None:
    """No lock is held, nothing comes in late, and the saver writes and reads."""
    before = everything(path)
    with closing(sqlite3.connect(path, timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.rollback()
    put(saver, 1, {"a": "new"}, thread_id="unrelated")
    assert values_of(saver, 1, "unrelated") == {"a": "new"}
    saver.delete_thread("unrelated")
    assert everything(path) == before


@pytest.fixture(params=["file", "connection"])
def faulty(request: pytest.FixtureRequest, plan: Plan, path: Path) -> Iterator[SqliteSaver]:
    if request.param == "file":
        with SqliteSaver.open(path) as saver:
            fill(saver)
            yield saver
        return
    with closing(files.sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        fill(saver)
        yield saver


def statements_of(saver: SqliteSaver, plan: Plan, operation: Operation) -> list[str]:
    """What the operation executes, found out in a transaction that is not committed."""
    plan.armed, plan.fails_at, plan.when = True, "COMMIT", "before"
    with pytest.raises(sqlite3.OperationalError, match="injected"):
        operation(saver)
    plan.armed = False
    found, plan.statements = plan.statements, []
    return found


@pytest.mark.parametrize("error", [sqlite3.OperationalError, KeyboardInterrupt])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_statement_that_fails_leaves_all_or_nothing(
    faulty: SqliteSaver,
    plan: Plan,
    path: Path,
    operation: str,
    when: str,
    error: type[BaseException],
) -> None:
    act = OPERATIONS[operation]
    before = everything(path)
    statements = statements_of(faulty, plan, act)
    assert everything(path) == before
    assert statements[0] == "BEGIN IMMEDIATE"
    for place, _ in enumerate(statements):
        plan.fails_at, plan.when, plan.error = place, when, lambda: error("injected")
        plan.armed, plan.fired, plan.statements = True, False, []
        with pytest.raises(error, match="injected"):
            act(faulty)
        plan.armed = False
        assert plan.fired
        if plan.statements[-1] == "COMMIT" and when == "after":
            # Only the acknowledgement was lost.
            assert everything(path) != before
        else:
            assert everything(path) == before
        check_usable(faulty, path)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_rollback_that_fails_holds_nothing_up(
    faulty: SqliteSaver, plan: Plan, path: Path, operation: str
) -> None:
    before = everything(path)
    plan.armed, plan.fails_at, plan.when, plan.rollback_fails = True, 1, "after", True
    with pytest.raises(sqlite3.OperationalError, match="injected"):
        OPERATIONS[operation](faulty)
    plan.armed = False
    assert faulty.get_tuple(at(number=3)) is not None
    assert everything(path) == before
    check_usable(faulty, path)


def test_a_rollback_that_is_interrupted_holds_nothing_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(sqlite3.Connection):
        def rollback(self) -> None:
            raise KeyboardInterrupt

    def fail(cursor: sqlite3.Cursor) -> None:
        cursor.execute("DELETE FROM checkpoints")
        raise OSError

    opened = partial(sqlite3.connect, factory=Interrupted)
    with monkeypatch.context() as patched:
        patched.setattr(files.sqlite3, "connect", opened)
        saver = SqliteSaver.open(path)
        fill(saver)
    with saver:
        before = everything(path)
        with pytest.raises(KeyboardInterrupt):
            saver.transact(fail)
        assert everything(path) == before
        check_usable(saver, path)


@pytest.mark.parametrize(
    ("operation", "table", "condition"),
    [
        ("put", "checkpoints", "1"),
        ("put_writes", "checkpoint_writes", "new.idx = 3"),
        ("copy_thread", "checkpoint_values", "new.version = 3"),
        ("copy_thread", "checkpoints", "new.checkpoint_id LIKE '%3'"),
    ],
)
def test_a_trigger_that_aborts_in_the_middle_leaves_nothing(
    path: Path, operation: str, table: str, condition: str
) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        fill(saver)
        before = everything(path)
        connection.execute(
            f"""CREATE TEMP TRIGGER stop AFTER INSERT ON {table} WHEN {condition}
                BEGIN SELECT RAISE(ABORT, 'stopped'); END"""
        )
        with pytest.raises(sqlite3.IntegrityError, match="stopped"):
            OPERATIONS[operation](saver)
        assert not connection.in_transaction
        assert everything(path) == before
        connection.execute("DROP TRIGGER stop")
        check_usable(saver, path)


def test_an_interrupt_inside_the_engine_leaves_nothing(path: Path) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        fill(saver)
        before = everything(path)
        calls = iter(range(10_000))
        connection.set_progress_handler(lambda: next(calls) > 40, 10)
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            saver.put_writes(at(number=1), [("a", n) for n in range(500)], "new")
        connection.set_progress_handler(None, 0)
        assert everything(path) == before
        check_usable(saver, path)


def test_a_locked_database_is_told_and_goes_on_afterwards(path: Path) -> None:
    with SqliteSaver.open(path, busy_timeout_ms=0) as saver:
        fill(saver)
        before = everything(path)
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            for operation in OPERATIONS.values():
                with pytest.raises(sqlite3.OperationalError, match=f"{path}: database is locked"):
                    operation(saver)
                assert len(numbers(saver)) == 3
            other.rollback()
        assert everything(path) == before
        check_usable(saver, path)


def test_a_connection_that_came_out_read_only_is_not_kept(path: Path) -> None:
    def read_only(path: str, _: object) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)

    SqliteSaver.open(path).close()
    with SqliteSaver.open(path) as saver:
        with (
            mock.patch.object(file_store, "connect", read_only),
            pytest.raises(sqlite3.OperationalError, match="readonly"),
        ):
            put(saver, 1)
        fill(saver)
        check_usable(saver, path)


def test_a_commit_that_is_refused_is_undone(path: Path) -> None:
    # Without a write-ahead log, a reader stops the commit of a writer.
    with closing(sqlite3.connect(path, check_same_thread=False, timeout=0)) as connection:
        saver = SqliteSaver(connection)
        fill(saver)
        before = everything(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM checkpoints").fetchall()
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                put(saver, 9)
            assert not connection.in_transaction
            assert 9 not in numbers(saver)
        assert everything(path) == before
        check_usable(saver, path)


def test_a_write_inside_a_transaction_of_the_owner_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        put(saver, 1)
        connection.execute("CREATE TABLE mine (a)")
        connection.execute("INSERT INTO mine VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match="found an open transaction"):
            put(saver, 2)
        # Reading sees what the owner sees, and leaves the transaction to its owner.
        assert numbers(saver) == [1]
        assert connection.in_transaction
        connection.commit()
        put(saver, 2)
        assert connection.execute("SELECT count(*) FROM mine").fetchone()[0] == 1
        assert numbers(saver) == [2, 1]


def test_a_read_that_fails_leaves_the_saver_usable(plan: Plan, path: Path) -> None:
    with SqliteSaver.open(path) as saver:
        fill(saver)
        # Now a connection for reading is there. Its first statement is the BEGIN.
        assert saver.get_tuple(at()) is not None
        plan.armed, plan.fails_at, plan.when, plan.error = True, 1, "after", KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            saver.get_tuple(at(number=3))
        plan.armed = False
        assert plan.statements[1].startswith("SELECT")
        with closing(sqlite3.connect(path, timeout=0)) as other:
            assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        check_usable(saver, path)


def test_a_serializer_that_calls_the_saver_is_refused(any_saver: SqliteSaver) -> None:
    def reenter(cursor: sqlite3.Cursor) -> None:
        put(any_saver, 2)

    with pytest.raises(sqlite3.ProgrammingError, match="from inside one of its own operations"):
        any_saver.transact(reenter)
    put(any_saver, 1)
    assert numbers(any_saver) == [1]
    assert writes_of(any_saver, 1) == []


@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_failure_leaves_no_cursor_for_the_collector(path: Path, operation: str) -> None:
    """A cursor that is collected resets its statement, which later operations share."""
    cursors: list[sqlite3.Cursor] = []

    plan = Plan()

    class Watched(faulty_connections(plan)):  # type: ignore[misc]
        def cursor(self, *args: Any) -> Any:
            cursors.append(super().cursor(*args))
            return cursors[-1]

    with closing(sqlite3.connect(path, factory=Watched)) as connection:
        saver = SqliteSaver(connection)
        cursors.clear()
        # The first statement is the BEGIN.
        plan.armed, plan.fails_at, plan.when, plan.error = True, 1, "after", KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            put(saver, 1) if operation == "write" else saver.get_tuple(at())
        plan.armed = False
        assert cursors
        for cursor in cursors:
            with pytest.raises(sqlite3.ProgrammingError, match="closed cursor"):
                cursor.fetchone()


@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_transaction_that_the_owner_begins_at_the_same_moment_stays(
    path: Path, operation: str
) -> None:
    class Owned(sqlite3.Connection):
        begins = False

        def cursor(self, *args: Any) -> Any:
            if self.begins:
                self.begins = False
                self.execute("BEGIN")
                self.execute("INSERT INTO mine VALUES (1)")
            return super().cursor(*args)

    with closing(sqlite3.connect(path, isolation_level=None, factory=Owned)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        saver = SqliteSaver(connection)
        put(saver, 1)
        connection.begins = True
        with pytest.raises(sqlite3.OperationalError, match="within a transaction"):
            put(saver, 2) if operation == "write" else saver.get_tuple(at())
        assert connection.in_transaction
        connection.commit()
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (1,)
        put(saver, 2)
        assert numbers(saver) == [2, 1]


def test_savers_on_one_connection_take_turns(path: Path) -> None:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        savers = [SqliteSaver(connection), SqliteSaver(connection)]
        failures: list[sqlite3.Error] = []

        def work(saver: SqliteSaver, thread_id: str) -> None:
            try:
                for number in range(60):
                    put(saver, number, {"a": [number]}, thread_id=thread_id)
            except sqlite3.Error as error:
                failures.append(error)

        threads = [
            threading.Thread(target=work, args=(saver, str(number)))
            for number, saver in enumerate(savers)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not failures
        assert [len(numbers(savers[0], at(thread_id))) for thread_id in ("0", "1")] == [60, 60]
