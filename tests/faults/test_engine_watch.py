"""The watch: each connection and thread, callbacks that fail loudly, connections outliving it."""

import gc
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.conftest import Garbage

from saverproof_faults import Event, FaultsError, HookFailed, Injector, Moment, Place, PlanError
from saverproof_faults.sqlite import raw
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.library import library, unavailable
from saverproof_faults.sqlite.listener import Listener
from saverproof_faults.sqlite.trap import Trap
from saverproof_faults.sqlite.watch import Watch

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


class Heard(Listener):
    """Keeps the statements it hears, with their thread."""

    def __init__(self) -> None:
        self.statements: list[tuple[int, str, int]] = []

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        sql = library().quick.sqlite3_sql(statement).decode()
        self.statements.append((connection.number, sql, threading.get_ident()))


@pytest.fixture
def watch() -> Iterator[Watch]:
    with Watch() as entered:
        yield entered


def test_connections_come_and_go(watch: Watch) -> None:
    assert not watch.connections
    one, two = sqlite3.connect(":memory:"), sqlite3.Connection(":memory:")
    with closing(one), closing(two):
        assert [connection.number for connection in watch.connections] == [1, 2]
        assert not any(connection.proxied for connection in watch.connections)
    assert not watch.connections
    assert watch.opened == 2


def test_what_is_collected_in_a_visit_is_visited_no_more(watch: Watch) -> None:
    with closing(sqlite3.connect(":memory:")):
        dropped = [sqlite3.connect(":memory:")]
        dropped.append(dropped)  # type: ignore[arg-type]
        del dropped
        visited = []
        for connection in watch.visited():
            assert not gc.isenabled()
            visited.append(connection.values("PRAGMA user_version"))
            gc.collect()
        assert visited == [["0"]]
        assert gc.isenabled()


def test_what_a_thread_that_was_given_up_opens_is_neither_heard_nor_visited(watch: Watch) -> None:
    """It may close its connections while others look at them: SQLite frees the memory."""
    answered, went_on = threading.Event(), threading.Event()
    seen_there: list[WatchedConnection] = []

    def stray() -> None:
        with closing(sqlite3.connect(":memory:")) as early:
            went_on.set()
            answered.wait()
            early.execute("SELECT 'early'")
            with closing(sqlite3.connect(":memory:")) as late:
                late.execute("SELECT 'late'")
                seen_there.extend(watch.visited())

    thread = threading.Thread(target=stray)
    thread.start()
    went_on.wait()
    watch.give_up(thread)
    assert not watch.connections
    heard = Heard()
    with closing(sqlite3.connect(":memory:")) as own, watch.listening(heard):
        answered.set()
        thread.join()
        own.execute("SELECT 'own'")
        assert [connection.number for connection in watch.connections] == [2]
    assert [sql for _, sql, _ in heard.statements] == ["SELECT 'own'"]
    assert not seen_there


def test_a_thread_that_opens_all_connections_of_a_program_is_still_seen(watch: Watch) -> None:
    """Such a thread, as of asgiref, serves the next saver as well as one that was given up."""
    with ThreadPoolExecutor(1) as opener:
        early = opener.submit(sqlite3.connect, ":memory:").result()
        watch.give_up(threading.Thread())
        late = opener.submit(sqlite3.connect, ":memory:").result()
        assert [connection.number for connection in watch.connections] == [2]
        for connection in (early, late):
            opener.submit(connection.close).result()


def test_a_connection_closed_with_a_cursor_left_over_is_gone(watch: Watch) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = connection.execute("SELECT 1 UNION SELECT 2")
    cursor.fetchone()
    connection.close()
    assert not watch.connections
    del cursor


def test_the_layers_own_connections_are_not_watched(watch: Watch, tmp_path: Path) -> None:
    heard = Heard()
    with watch.listening(heard), raw.connection(str(tmp_path / "a.db")) as own:
        own.execute("CREATE TABLE t (x)")
    assert watch.opened == 0
    assert heard.statements == []


def test_statements_of_several_threads_are_heard_where_they_run(watch: Watch) -> None:
    heard = Heard()

    def program() -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            for number in range(50):
                connection.execute(f"SELECT {number}").fetchone()

    threads = [threading.Thread(target=program) for _ in range(4)]
    with watch.listening(heard):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(heard.statements) == 200
    per_connection = {number: ident for number, _, ident in heard.statements}
    assert len(set(per_connection.values())) == 4 or len(per_connection) == 4


def test_the_inner_programs_of_triggers_are_not_statements(watch: Watch) -> None:
    heard = Heard()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(
            "CREATE TABLE t (x); CREATE TABLE u (x);"
            "CREATE TRIGGER copy AFTER INSERT ON t BEGIN INSERT INTO u VALUES (new.x); END;"
        )
        with watch.listening(heard):
            connection.execute("-- a comment of the program's\nINSERT INTO t VALUES (1)")
    assert [sql for _, sql, _ in heard.statements] == [
        "-- a comment of the program's\nINSERT INTO t VALUES (1)"
    ]


def test_what_a_listener_raises_is_not_swallowed(watch: Watch) -> None:
    class Broken(Listener):
        def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
            raise ZeroDivisionError

    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(HookFailed, match="ZeroDivisionError") as failure,
        watch.listening(Broken()),
    ):
        connection.execute("SELECT 1")
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    watch.check()


def test_nothing_is_heard_after_listening_and_at_full_speed_between(watch: Watch) -> None:
    heard = Heard()
    with closing(sqlite3.connect(":memory:")) as connection:
        with watch.listening(heard):
            connection.execute("SELECT 1")
        connection.execute("SELECT 2")
        with watch.listening(heard):
            connection.execute("SELECT 3")
    assert [sql for _, sql, _ in heard.statements] == ["SELECT 1", "SELECT 3"]


def test_connections_may_outlive_the_watch_and_the_next_one() -> None:
    with Watch():
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (1)")
    with Watch() as later:
        connection.execute("INSERT INTO t VALUES (2)")
        assert not later.connections
        connection.close()
    assert later.opened == 0


def test_one_watch_at_a_time() -> None:
    with Watch(), pytest.raises(FaultsError, match="another watch"), Watch():
        pass
    with Watch():
        pass


@pytest.mark.parametrize(
    ("place", "sprung_at"),
    [
        (Place(Event.ENGINE_STATEMENT, 2), []),
        (Place(Event.ENGINE_STATEMENT, 2, Moment.AFTER), []),
        (Place(Event.ENGINE_STATEMENT, 3), []),
        (Place(Event.TRANSACTION, 1), []),
        (Place(Event.ENGINE_STATEMENT, 3, Moment.AFTER), [1]),
    ],
)
def test_a_trap_springs_at_its_place(tmp_path: Path, place: Place, sprung_at: list[int]) -> None:
    path = str(tmp_path / "a.db")
    seen: list[list[int]] = []

    def look_inside() -> None:
        with raw.connection(path) as other:
            seen.append([x for (x,) in other.execute("SELECT x FROM t")])

    with Injector() as injector, closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
        with injector.trapped(place, look_inside):
            connection.execute("INSERT INTO t VALUES (1)")
            connection.commit()
    assert seen == [sprung_at]


def test_a_trap_also_springs_at_a_call_of_the_program() -> None:
    sprung: list[str] = []
    with Injector() as injector, closing(sqlite3.connect(":memory:")) as connection:
        with injector.trapped(Place(Event.STATEMENT, 2), lambda: sprung.append("here")):
            connection.execute("SELECT 1")
            assert sprung == []
            connection.execute("SELECT 2")
        assert sprung == ["here"]


def test_a_trap_elsewhere_is_refused() -> None:
    with pytest.raises(PlanError, match="cannot stand"):
        Trap(Place(Event.WRITE), lambda: None)


def test_nothing_is_collected_while_sqlite_calls_back(watch: Watch, garbage: Garbage) -> None:
    class Leaving(Listener):
        ends = True

        def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
            garbage.leave()

        def ended(self, connection: WatchedConnection, statement: int) -> None:
            garbage.leave()

        def committing(self, connection: WatchedConnection, number: int) -> bool:
            garbage.leave()
            return False

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a)")
        with watch.listening(Leaving()):
            connection.execute("INSERT INTO t VALUES (1)")
        assert garbage.kept == [True, True, True]
    assert gc.isenabled()
    assert not any(each.alive for each in garbage.pieces)
