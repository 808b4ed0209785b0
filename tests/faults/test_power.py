"""Disk images: what SQLite's own guarantees allow is found, and nothing else."""

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from saverproof_faults.io import (
    IoCall,
    IoFault,
    IoKind,
    Mark,
    MarkKind,
    Recorder,
    Recording,
    available,
)
from saverproof_faults.power import (
    DiskImage,
    ImageKind,
    PowerCuts,
    failed_at,
    kill_images,
    materialize,
    sync_places,
    unexplained,
)

needs_shim = pytest.mark.skipif(available() is not None, reason=str(available()))

OPERATIONS = 8
ROWS = 3
NEVER = sys.maxsize


def commit_each(connection: sqlite3.Connection, recorder: Recorder) -> None:
    """A right program: an operation is three rows in one transaction."""
    for operation in range(1, OPERATIONS + 1):
        recorder.started(operation)
        connection.execute("begin immediate")
        connection.executemany("insert into t values (?, randomblob(300))", [(operation,)] * ROWS)
        connection.execute("commit")
        recorder.acknowledged(operation)


def commit_each_row(connection: sqlite3.Connection, recorder: Recorder) -> None:
    """A wrong one: an operation is three transactions."""
    for operation in range(1, OPERATIONS + 1):
        recorder.started(operation)
        for _ in range(ROWS):
            connection.execute("insert into t values (?, randomblob(300))", (operation,))
        recorder.acknowledged(operation)


def commit_lazily(connection: sqlite3.Connection, recorder: Recorder) -> None:
    """A wrong one: an operation is committed by the next but one."""
    connection.execute("begin immediate")
    for operation in range(1, OPERATIONS + 1):
        recorder.started(operation)
        connection.executemany("insert into t values (?, randomblob(300))", [(operation,)] * ROWS)
        if operation % 2 == 0:
            connection.execute("commit")
            connection.execute("begin immediate")
        recorder.acknowledged(operation)
    connection.execute("commit")


Program = Callable[[sqlite3.Connection, Recorder], None]


def record(folder: Path, program: Program, journal: str, synchronous: str) -> Recording:
    folder.mkdir()
    with (
        Recorder(folder) as recorder,
        closing(sqlite3.connect(folder / "a.db", isolation_level=None)) as connection,
    ):
        connection.execute(f"pragma journal_mode={journal}").fetchone()
        connection.execute(f"pragma synchronous={synchronous}")
        connection.execute("create table t(operation, data)")
        recorder.settled()
        program(connection, recorder)
        recording = recorder.recording()
        assert not unexplained(recording, folder)
    return recording


def verdict(image: DiskImage, folder: Path) -> str:
    """'' for an image that keeps every promise, else the first that it breaks."""
    materialize(image, folder)
    try:
        with closing(sqlite3.connect(folder / "a.db")) as connection:
            if connection.execute("pragma integrity_check").fetchone() != ("ok",):
                return "corrupt"
            rows = dict(connection.execute("select operation, count(*) from t group by 1"))
    except sqlite3.DatabaseError:
        return "corrupt"
    if set(rows.values()) - {ROWS}:
        return "torn"
    if set(range(1, max(rows, default=0) + 1)) != set(rows):
        return "hole"
    return "lost" if set(image.acknowledged) - set(rows) else ""


def verdicts(images: list[DiskImage], folder: Path) -> set[str]:
    return {verdict(image, folder / str(number)) for number, image in enumerate(images)} - {""}


@needs_shim
@pytest.mark.parametrize(
    ("journal", "synchronous", "allowed"),
    [
        ("wal", "full", set()),
        ("wal", "normal", {"lost"}),
        ("wal", "off", {"lost"}),
        ("delete", "extra", set()),
        ("delete", "full", {"lost"}),
        ("delete", "off", {"lost", "corrupt"}),
        ("truncate", "full", set()),
        ("persist", "full", set()),
    ],
)
def test_sqlites_documented_guarantees_are_found(
    tmp_path: Path, journal: str, synchronous: str, allowed: set[str]
) -> None:
    recording = record(tmp_path / "run", commit_each, journal, synchronous)
    found = verdicts(list(PowerCuts(recording, cap=400)), tmp_path)
    assert found - {"torn", "hole"} == allowed
    assert not found & {"torn", "hole"} or "corrupt" in allowed


@needs_shim
@pytest.mark.parametrize("synchronous", ["full", "off"])
def test_kill_images_show_nothing_of_a_right_program(tmp_path: Path, synchronous: str) -> None:
    recording = record(tmp_path / "run", commit_each, "wal", synchronous)
    images = list(kill_images(recording))
    assert {image.kind for image in images} == {ImageKind.ALL}
    assert len(images) > 4 * OPERATIONS
    assert not verdicts(images, tmp_path)


@needs_shim
@pytest.mark.parametrize(("program", "found"), [(commit_each_row, "torn"), (commit_lazily, "lost")])
def test_kill_images_show_a_wrong_program(tmp_path: Path, program: Program, found: str) -> None:
    recording = record(tmp_path / "run", program, "wal", "full")
    assert verdicts(list(kill_images(recording)), tmp_path) == {found}


@needs_shim
def test_a_commit_over_two_files_is_whole_in_another_folder(tmp_path: Path) -> None:
    """Their journals name a super-journal, and it them, by paths that an image does not have."""
    where = tmp_path / "recorded"
    where.mkdir()
    with (
        Recorder(where) as recorder,
        closing(sqlite3.connect(where / "a.db", isolation_level=None)) as connection,
    ):
        connection.execute("attach ? as side", (str(where / "b.db"),))
        for schema in ("main", "side"):
            connection.execute(f"pragma {schema}.synchronous=extra")
            connection.execute(f"create table {schema}.t(data)")
        recorder.settled()
        for _ in range(3):
            connection.execute("begin immediate")
            for schema in ("main", "side"):
                connection.execute(f"insert into {schema}.t values (randomblob(9000))")
            connection.execute("commit")
        recording = recorder.recording()
    for number, image in enumerate([*kill_images(recording), *PowerCuts(recording, cap=100)]):
        folder = tmp_path / str(number)
        materialize(image, folder)
        with closing(sqlite3.connect(folder / "a.db", isolation_level=None)) as connection:
            connection.execute("attach ? as side", (str(folder / "b.db"),))
            counted = "select (select count(*) from main.t), (select count(*) from side.t)"
            here, beside = connection.execute(counted).fetchone()
        assert here == beside


@needs_shim
def test_images_follow_the_seed_and_the_cap_is_told(tmp_path: Path) -> None:
    recording = record(tmp_path / "run", commit_each, "wal", "normal")
    cuts = PowerCuts(recording, seed=5, cap=100)
    assert cuts.capped
    assert cuts.planned == 100 < cuts.enumerated
    assert list(cuts) == list(cuts) == list(PowerCuts(recording, seed=5, cap=100))
    assert list(cuts) != list(PowerCuts(recording, seed=6, cap=100))
    assert not PowerCuts(recording, cap=100_000).capped


@needs_shim
def test_a_file_made_by_the_program_itself_is_recorded(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        (tmp_path / "a.db").touch(mode=0o600)
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            connection.execute("create table t(x)")
        recording = recorder.recording()
    assert not unexplained(recording, tmp_path)


@needs_shim
def test_what_bypassed_the_recorder_is_named(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            connection.execute("create table t(x)")
        (tmp_path / "beside.json").write_text("{}")
        recording = recorder.recording()
    assert unexplained(recording, tmp_path) == ("beside.json",)


@needs_shim
def test_a_run_with_failed_writes_gives_no_images(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            recorder.arm(IoFault(1, kind=IoKind.WRITE))
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("create table t(x)")
        recording = recorder.recording()
    with pytest.raises(ValueError, match=r"the write a.db-journal .* failed"):
        PowerCuts(recording)


def written(data: bytes, offset: int = 0, file: str = "f") -> IoCall:
    return IoCall(IoKind.WRITE, file, offset=offset, length=len(data), contents=data)


def files_left(*log: IoCall, initial: dict[str, bytes]) -> list[dict[str, bytes]]:
    # A mark at the end tells the last images from equal ones before.
    cuts = PowerCuts(Recording(initial, (*log, Mark(MarkKind.STARTED, 1))), cap=10_000)
    return [dict(image.files) for image in cuts if image.started]


def test_unsynced_writes_are_kept_or_lost_independently() -> None:
    left = files_left(written(b"A"), written(b"B", 1), initial={"f": b"xy"})
    assert sorted(files["f"] for files in left) == [b"AB", b"Ay", b"xB", b"xy"]


def test_synced_writes_stay() -> None:
    left = files_left(written(b"A"), IoCall(IoKind.SYNC, "f"), initial={"f": b"x"})
    assert left == [{"f": b"A"}]


def test_a_sync_that_failed_makes_nothing_durable() -> None:
    left = files_left(written(b"A"), IoCall(IoKind.SYNC, "f", result=10), initial={"f": b"x"})
    assert {files["f"] for files in left} == {b"A", b"x"}


def test_writes_tear_at_sectors_of_the_file() -> None:
    left = files_left(written(b"A" * 1000, 100), initial={"f": b"x" * 1100})
    torn = {files["f"] for files in left} - {b"x" * 1100, b"x" * 100 + b"A" * 1000}
    assert torn
    for contents in torn:
        pieces = contents[100:512], contents[512:1024], contents[1024:1100]
        assert all(len(set(piece)) == 1 for piece in pieces)


def test_a_new_file_may_be_missing_until_its_folder_is_synced() -> None:
    log = (IoCall(IoKind.OPEN, "j", creates=True), written(b"A", file="j"))
    synced = IoCall(IoKind.SYNC, "j", syncs_folder=True)
    assert {} in files_left(*log, initial={})
    assert {} in files_left(*log, IoCall(IoKind.SYNC, "j"), initial={})
    assert files_left(*log, synced, initial={}) == [{"j": b"A"}]


@pytest.mark.parametrize(("syncs_folder", "left"), [(True, [{}]), (False, [{}, {"j": b"A"}])])
def test_a_deletion_lasts_once_its_folder_is_synced(
    syncs_folder: bool, left: list[dict[str, bytes]]
) -> None:
    deletion = IoCall(IoKind.DELETE, "j", syncs_folder=syncs_folder)
    assert sorted(files_left(deletion, initial={"j": b"A"}), key=len) == left


def test_folder_changes_survive_in_order() -> None:
    log = (IoCall(IoKind.OPEN, "a", creates=True), IoCall(IoKind.OPEN, "b", creates=True))
    assert {"b": b""} not in files_left(*log, initial={})
    assert {"a": b""} in files_left(*log, initial={})


def test_marks_tell_what_had_been_acknowledged() -> None:
    log = (Mark(MarkKind.STARTED, 1), written(b"A"), Mark(MarkKind.ACKNOWLEDGED, 1))
    images = list(kill_images(Recording({"f": b"x"}, log)))
    assert [(image.started, image.acknowledged) for image in images] == [
        ((), ()),
        ((1,), ()),
        ((1,), ()),
        ((1,), (1,)),
    ]
    assert [image.files["f"] for image in images] == [b"x", b"x", b"A", b"A"]


def test_an_image_is_written_below_an_empty_folder(tmp_path: Path) -> None:
    image = DiskImage(0, (), (), ImageKind.ALL, {"a.db": b"1", "sub/b.db": b"2"})
    materialize(image, tmp_path / "new")
    assert (tmp_path / "new" / "a.db").read_bytes() == b"1"
    assert (tmp_path / "new" / "sub" / "b.db").read_bytes() == b"2"
    with pytest.raises(FileExistsError, match="needs an empty folder"):
        materialize(image, tmp_path / "new")


FAILED = IoCall(IoKind.SYNC, "f", result=5)
SYNCED = IoCall(IoKind.SYNC, "f")


def left(*log: IoCall, initial: bytes = b"xxxx") -> set[bytes]:
    return {files["f"] for files in files_left(*log, initial={"f": initial})}


def test_what_a_failed_sync_has_dropped_no_later_sync_makes_durable() -> None:
    assert left(written(b"A"), SYNCED) == {b"Axxx"}
    assert left(written(b"A"), FAILED, SYNCED) == {b"Axxx", b"xxxx"}
    assert left(written(b"A"), FAILED, written(b"B", 1), SYNCED) == {b"ABxx", b"xBxx"}


def test_bytes_that_are_written_anew_after_a_failed_sync_count_again() -> None:
    lost = (written(b"AAAA"), FAILED)
    assert left(*lost, written(b"AAAA"), SYNCED) == {b"AAAA"}
    assert left(*lost, written(b"BB", 1), SYNCED) == {b"ABBA", b"xBBx"}
    assert left(*lost, written(b"BB"), written(b"BB", 2), SYNCED) == {b"BBBB"}
    assert left(*lost, written(b"BB", 2), SYNCED) == {b"AABB", b"xxBB"}
    assert left(*lost, written(b"BBBBBB"), SYNCED) == {b"BBBBBB"}


def test_what_was_dropped_behind_the_end_leaves_a_hole() -> None:
    assert left(written(b"A", 1), FAILED, written(b"B", 2), SYNCED, initial=b"x") == {
        b"xAB",
        b"x\0B",
    }


def test_a_failed_sync_drops_no_truncation() -> None:
    cut = IoCall(IoKind.TRUNCATE, "f", offset=1)
    assert left(cut, FAILED, SYNCED) == {b"x"}
    assert left(cut, FAILED) == {b"x", b"xxxx"}
    assert left(written(b"A", 2), FAILED, cut, SYNCED) == {b"x"}
    assert left(written(b"AAA"), FAILED, cut, SYNCED) == {b"A", b"x"}
    assert left(cut, written(b"A", 1), FAILED, SYNCED) == {b"x", b"xA"}


def test_a_failed_sync_drops_nothing_of_other_files() -> None:
    log = (written(b"A"), written(b"B", file="g"), FAILED, IoCall(IoKind.SYNC, "g"))
    found = files_left(*log, initial={"f": b"x", "g": b"x"})
    assert {files["g"] for files in found} == {b"B"}


def test_cuts_can_begin_at_the_sync_that_failed() -> None:
    done = [Mark(MarkKind.ACKNOWLEDGED, number) for number in range(30)]
    log = (Mark(MarkKind.STARTED, 0), written(b"A"), FAILED, SYNCED, *done)
    recording = Recording({"f": b"x"}, log)
    assert failed_at(recording) == 3
    cuts = PowerCuts(recording, cap=5, since=failed_at(recording))
    images = list(cuts)
    assert cuts.capped
    assert min(image.position for image in images) >= 3
    # The loss when the first operation returns is in every sample.
    assert (4 + 1, b"x") in {(image.position, image.files["f"]) for image in images}


ONCE = (
    "insert into t select ?1, randomblob(300) "
    "where (select count(*) from t where operation = ?1) < ?2"
)


def commit_insistently(place: int) -> Program:
    """A right program, whose sync with this number fails: it makes a transaction again."""

    def program(connection: sqlite3.Connection, recorder: Recorder) -> None:
        connection.execute("pragma wal_autocheckpoint=4").fetchone()
        recorder.fail_sync(place)
        for operation in range(1, OPERATIONS + 1):
            recorder.started(operation)
            for _ in range(2):
                try:
                    connection.execute("begin immediate")
                    connection.executemany(ONCE, [(operation, ROWS)] * ROWS)
                    connection.execute("commit")
                    break
                except sqlite3.OperationalError:
                    if connection.in_transaction:
                        connection.execute("rollback")
            recorder.acknowledged(operation)

    return program


@needs_shim
@pytest.mark.parametrize(
    ("journal", "synchronous", "ends"),
    [
        ("wal", "full", False),
        ("delete", "extra", False),
        ("truncate", "full", True),
        ("persist", "full", True),
    ],
)
def test_sqlite_loses_after_a_failed_sync_only_where_its_journal_ends(
    tmp_path: Path, journal: str, synchronous: str, ends: bool
) -> None:
    """The end of a journal is not synced again, and the transaction counts as made."""
    clean = record(tmp_path / "clean", commit_insistently(NEVER), journal, synchronous)
    made = sum(1 for place in sync_places(clean) if place.operation is None)
    places = [place for place in sync_places(clean) if place.operation is not None]
    assert len(places) > OPERATIONS
    assert any(place.ends_journal for place in places) is ends
    lost = set()
    for place in places:
        folder = tmp_path / str(place.number)
        folder.mkdir()
        program = commit_insistently(place.number - made)
        recording = record(folder / "run", program, journal, synchronous)
        since = failed_at(recording)
        assert since
        if verdicts(list(PowerCuts(recording, cap=40, since=since)), folder):
            lost.add(place)
    assert lost <= {place for place in places if place.ends_journal}
    assert bool(lost) is ends
