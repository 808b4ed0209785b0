"""The VFS shim sees, fails and records what SQLite does to its files."""

import asyncio
import gc
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import aiosqlite
import pytest
from tests.faults.conftest import Garbage

from saverproof_faults.io import (
    Extent,
    Failure,
    IoAction,
    IoCall,
    IoEach,
    IoFault,
    IoKind,
    IoWatch,
    Mark,
    Recorder,
    available,
    files_below,
)

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


def opened(folder: Path, journal: str = "wal") -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "a.db", isolation_level=None)
    connection.execute(f"pragma journal_mode={journal}").fetchone()
    connection.execute("create table if not exists t(x)")
    return connection


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[IoWatch]:
    with IoWatch(tmp_path) as watch:
        yield watch


def test_a_commit_is_seen_as_writes_and_a_sync(tmp_path: Path, watch: IoWatch) -> None:
    with closing(opened(tmp_path)) as connection:
        before = len(watch.calls)
        connection.execute("insert into t values (1)")
        seen = watch.calls[before:]
    assert {call.file for call in seen} == {"a.db-wal"}
    assert [call.kind for call in seen][-1] is IoKind.SYNC
    assert sum(call.kind is IoKind.WRITE for call in seen) >= 2


def test_every_kind_of_call_is_counted(tmp_path: Path, watch: IoWatch) -> None:
    for journal in ("delete", "truncate"):
        with closing(opened(tmp_path, journal)) as connection:
            connection.execute("insert into t values (1)")
    assert set(watch.counts) == set(IoKind)
    assert watch.total == len(watch.calls)


def test_a_new_file_and_the_sync_of_its_folder_are_told(tmp_path: Path, watch: IoWatch) -> None:
    with closing(opened(tmp_path, "delete")) as connection:
        connection.execute("insert into t values (1)")
    assert next(call.file for call in watch.calls if call.creates) == "a.db"
    syncs = [call for call in watch.calls if call.syncs_folder]
    assert {call.file for call in syncs} == {"a.db-journal"}
    assert IoKind.SYNC in {call.kind for call in syncs}


def test_files_elsewhere_and_in_memory_are_not_seen(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with IoWatch(tmp_path / "in") as watch:
        with closing(opened(tmp_path)), closing(sqlite3.connect(":memory:")) as memory:
            memory.execute("create table t(x)")
        (tmp_path / "inside").mkdir()
        opened(tmp_path / "inside").close()
        assert watch.total == 0
        opened(tmp_path / "in").close()
    assert watch.total > 0


def test_a_folder_reached_by_a_link_is_watched(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with IoWatch(tmp_path / "link") as watch:
        opened(tmp_path / "link").close()
    assert watch.total > 0


@pytest.mark.parametrize(
    ("fault", "journal", "code"),
    [
        (IoFault(1, kind=IoKind.WRITE), "wal", "SQLITE_IOERR_WRITE"),
        (IoFault(1, Failure.DISK_FULL, kind=IoKind.WRITE), "wal", "SQLITE_FULL"),
        (IoFault(1, kind=IoKind.SYNC), "wal", "SQLITE_IOERR_FSYNC"),
        (IoFault(1, Failure.DISK_FULL, kind=IoKind.SYNC), "wal", "SQLITE_IOERR_FSYNC"),
        (IoFault(1, kind=IoKind.TRUNCATE), "truncate", "SQLITE_IOERR_TRUNCATE"),
        (IoFault(1, kind=IoKind.DELETE), "delete", "SQLITE_IOERR_DELETE"),
        (IoFault(1, kind=IoKind.OPEN), "delete", "SQLITE_CANTOPEN"),
    ],
)
def test_a_fault_is_the_engines_own_error(
    tmp_path: Path, watch: IoWatch, fault: IoFault, journal: str, code: str
) -> None:
    with closing(opened(tmp_path, journal)) as connection:
        watch.arm(fault)
        with pytest.raises(sqlite3.OperationalError) as raised:
            connection.execute("insert into t values (1)")
        assert raised.value.sqlite_errorname == code
        assert len(watch.fired) == 1
        watch.disarm()
        connection.execute("insert into t values (2)")
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)


def test_each_place_fails_and_the_commit_is_whole_or_absent(tmp_path: Path, watch: IoWatch) -> None:
    with closing(opened(tmp_path)) as connection:
        before = watch.total
        connection.execute("insert into t values (0)")
        places = watch.total - before
        for place in range(1, places + 1):
            watch.arm(IoFault(place))
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("insert into t values (?)", (place,))
            assert [call.done for call in watch.fired] == [False]
        watch.arm(IoFault(1000))
        assert connection.execute("select count(*) from t").fetchone() == (1,)
        assert watch.fired == []


def test_a_fault_from_there_on_lasts_until_disarmed(tmp_path: Path, watch: IoWatch) -> None:
    with closing(opened(tmp_path)) as connection:
        watch.arm(IoFault(2, Failure.DISK_FULL, Extent.ONWARDS))
        for _ in range(3):
            with pytest.raises(sqlite3.OperationalError, match="full"):
                connection.execute("insert into t values (1)")
        watch.disarm()
        connection.execute("insert into t values (1)")
        assert len(watch.fired) == 3


def test_an_action_runs_before_the_call_takes_effect(tmp_path: Path, watch: IoWatch) -> None:
    with closing(opened(tmp_path)) as connection:
        sizes: list[int] = []
        wal = tmp_path / "a.db-wal"
        before = wal.stat().st_size
        watch.arm(IoAction(1, lambda call: sizes.append(wal.stat().st_size), kind=IoKind.WRITE))
        connection.execute("insert into t values (1)")
        assert sizes == [before]
        assert wal.stat().st_size > before


def test_an_action_can_see_each_call(tmp_path: Path, watch: IoWatch) -> None:
    seen: list[IoCall] = []
    watch.arm(IoEach(seen.append))
    opened(tmp_path).close()
    assert len(seen) == watch.total > 0


def test_what_an_action_raises_is_not_lost(tmp_path: Path) -> None:
    def broken(call: IoCall) -> None:
        raise LookupError(f"at {call.kind}")

    def program() -> None:
        with IoWatch(tmp_path) as watch, closing(opened(tmp_path)) as connection:
            watch.arm(IoAction(1, broken))
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                connection.execute("insert into t values (1)")

    with pytest.raises(LookupError, match="at write"):
        program()


def test_connections_outlive_the_watch(tmp_path: Path) -> None:
    with IoWatch(tmp_path) as watch:
        connection = opened(tmp_path, "delete")
    seen = watch.total
    with closing(connection):
        connection.execute("insert into t values (1)")
        with closing(opened(tmp_path)) as later:
            assert later.execute("select * from t").fetchall() == [(1,)]
    assert watch.total == seen


def test_threads_are_counted_apart_from_one_another(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "three")]

    def program(folder: Path, totals: dict[str, int]) -> None:
        folder.mkdir()
        with IoWatch(folder) as watch, closing(opened(folder)) as connection:
            for number in range(30):
                connection.execute("insert into t values (?)", (number,))
            totals[folder.name] = watch.total

    totals: dict[str, int] = {}
    threads = [threading.Thread(target=program, args=(folder, totals)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(totals) == 3
    assert len(set(totals.values())) == 1


def test_aiosqlite_goes_the_same_way(tmp_path: Path, watch: IoWatch) -> None:
    async def program() -> None:
        async with aiosqlite.connect(tmp_path / "a.db") as connection:
            await connection.execute("create table t(x)")
            await connection.commit()
            watch.arm(IoFault(1, kind=IoKind.SYNC))
            await connection.execute("insert into t values (1)")
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                await connection.commit()

    asyncio.run(program())
    assert len(watch.fired) == 1


def test_a_recorder_keeps_bytes_and_marks_in_order(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"there")
    with Recorder(tmp_path) as recorder, closing(opened(tmp_path)) as connection:
        recorder.settled()
        recorder.started(1)
        connection.execute("insert into t values ('recognisable')")
        recorder.acknowledged(1)
        recording = recorder.recording()
    assert recording.initial == {"old": b"there"}
    marks = [entry for entry in recording.log if isinstance(entry, Mark)]
    assert [mark.kind for mark in marks] == ["settled", "started", "acknowledged"]
    first, last = recording.log.index(marks[1]), recording.log.index(marks[2])
    written = b"".join(
        entry.contents for entry in recording.log[first:last] if isinstance(entry, IoCall)
    )
    assert b"recognisable" in written


def test_shared_memory_is_left_out_of_a_listing(tmp_path: Path) -> None:
    with closing(opened(tmp_path)):
        assert (tmp_path / "a.db-shm").exists()
        assert set(files_below(tmp_path)) == {"a.db", "a.db-wal"}


def test_a_place_is_counted_from_one() -> None:
    with pytest.raises(ValueError, match="counted from 1, got 0"):
        IoFault(0)


def test_a_file_is_no_folder_to_watch(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file"):
        IoWatch(tmp_path / "file")


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_nothing_is_collected_while_sqlite_calls_back(
    tmp_path: Path, garbage: Garbage, journal: str
) -> None:
    with IoWatch(tmp_path) as watch, closing(opened(tmp_path, journal)) as connection:
        watch.arm(IoEach(lambda call: garbage.leave()))
        connection.execute("insert into t values (1)")
        watch.disarm()
    assert len(garbage.kept) >= 3
    assert all(garbage.kept)
    assert gc.isenabled()
    assert not any(each.alive for each in garbage.pieces)
