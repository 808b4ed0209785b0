"""Power cuts of programs on plain files, recorded by their system calls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from saverproof_faults.io import (
    IoCall,
    IoKind,
    Mark,
    MarkKind,
    NameCall,
    NameKind,
    Recording,
)
from saverproof_faults.io.data import recording_data, recording_from
from saverproof_faults.power import (
    PowerCuts,
    failed_at,
    materialize,
    missing_syncs,
    unexplained,
)
from saverproof_faults.syscalls import available

needs_calls = pytest.mark.skipif(available() is not None, reason=str(available()))

OPENED = IoCall(IoKind.OPEN, "new", creates=True)
WRITTEN = IoCall(IoKind.WRITE, "new", 0, 3, b"new")
SYNCED = IoCall(IoKind.SYNC, "new", syncs_folder=True)
RENAMED = NameCall(NameKind.RENAME, "new", "a")
FOLDER = NameCall(NameKind.SYNC_FOLDER, ".")
DONE = Mark(MarkKind.ACKNOWLEDGED, 0)


def left_by(*log: IoCall | NameCall | Mark) -> set[bytes | None]:
    """What may be in the file "a" once the program has said that it is done."""
    recording = Recording({"a": b"old"}, log)
    images = [image for image in PowerCuts(recording) if image.acknowledged]
    return {image.files.get("a") for image in images}


def test_a_file_that_is_synced_renamed_and_its_folder_synced_is_the_new_one() -> None:
    assert left_by(OPENED, WRITTEN, SYNCED, RENAMED, FOLDER, DONE) == {b"new"}


def test_without_a_sync_of_the_folder_the_old_one_may_be_there() -> None:
    assert left_by(OPENED, WRITTEN, SYNCED, RENAMED, DONE) == {b"old", b"new"}


def test_without_a_sync_of_the_file_an_empty_one_may_be_there() -> None:
    assert left_by(OPENED, WRITTEN, RENAMED, FOLDER, DONE) == {b"", b"new"}


def test_a_file_in_place_may_hold_nothing_in_the_middle() -> None:
    emptied = IoCall(IoKind.TRUNCATE, "a")
    written = IoCall(IoKind.WRITE, "a", 0, 3, b"new")
    synced = IoCall(IoKind.SYNC, "a")
    assert left_by(DONE, emptied, written, synced) == {b"old", b"", b"new"}


def test_a_rename_is_atomic() -> None:
    recording = Recording({"a": b"text"}, (NameCall(NameKind.RENAME, "a", "b"),))
    assert {tuple(image.files) for image in PowerCuts(recording)} == {("a",), ("b",)}


def test_a_sync_of_a_new_file_makes_earlier_names_durable() -> None:
    later = IoCall(IoKind.OPEN, "b", creates=True)
    synced = IoCall(IoKind.SYNC, "b", syncs_folder=True)
    assert left_by(OPENED, WRITTEN, SYNCED, RENAMED, later, synced, DONE) == {b"new"}


def test_a_link_is_a_second_name_of_one_file() -> None:
    written = IoCall(IoKind.WRITE, "b", 0, 3, b"new")
    log = (NameCall(NameKind.LINK, "a", "b"), FOLDER, written, IoCall(IoKind.SYNC, "b"), DONE)
    assert left_by(*log) == {b"new"}


def test_empty_folders_are_there_again(tmp_path: Path) -> None:
    log = (NameCall(NameKind.MAKE_FOLDER, "made"), NameCall(NameKind.REMOVE_FOLDER, "gone"))
    *_, last = PowerCuts(Recording({}, (*log, OPENED), ("kept", "gone")))
    materialize(last, tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"kept", "made"}


def test_the_call_that_is_missing_is_named() -> None:
    unsynced = Recording({"a": b"old"}, (OPENED, WRITTEN, RENAMED, DONE))
    (missing,) = missing_syncs(unsynced).values()
    assert [str(one) for one in missing] == [
        "no sync of 'a' after it was written",
        "no sync of the top folder after 'new' was renamed to 'a'",
    ]
    right = Recording({"a": b"old"}, (OPENED, WRITTEN, SYNCED, RENAMED, FOLDER, DONE))
    assert missing_syncs(right) == {}


def test_the_operation_and_the_folder_of_a_missing_sync_are_named() -> None:
    second = Mark(MarkKind.ACKNOWLEDGED, 1)
    made = IoCall(IoKind.OPEN, "sub/b", creates=True)
    gone = IoCall(IoKind.DELETE, "a")
    log = (OPENED, WRITTEN, SYNCED, RENAMED, FOLDER, DONE, made, gone, second)
    (missing,) = (missing_syncs(Recording({"a": b"old"}, log))[1],)
    assert [str(one) for one in missing] == [
        "no sync of the top folder after 'a' was deleted",
        "no sync of the folder 'sub' after 'sub/b' was created",
    ]


def test_a_small_share_of_all_cuts_still_has_what_was_unsynced_when_an_operation_returned() -> None:
    log: list[IoCall | NameCall | Mark] = []
    for number in range(30):
        written = IoCall(IoKind.WRITE, "new", 0, 2, b"%02d" % number)
        done = Mark(MarkKind.ACKNOWLEDGED, number)
        log += [OPENED, written, SYNCED, RENAMED, done]
    cuts = PowerCuts(Recording({"a": b"old"}, tuple(log)), cap=20)
    assert cuts.enumerated > 100
    left = [(image.acknowledged[-1], image.files["a"]) for image in cuts if image.acknowledged]
    assert sum(found != b"%02d" % last for last, found in left) >= 5


def test_a_recording_survives_json() -> None:
    recording = Recording({"a": b"\xff"}, (OPENED, WRITTEN, RENAMED, DONE), ("sub",))
    assert recording_from(json.loads(json.dumps(recording_data(recording)))) == recording


RECORDED = """
import json, mmap, os, sys
from pathlib import Path
from saverproof_faults.io.data import recording_data
from saverproof_faults.syscalls import CallRecorder
folder = Path(sys.argv[1])
with CallRecorder(folder) as recorder:
    recorder.settled()
    recorder.started(0)
    (folder / "sub").mkdir()
    os.mknod(folder / "log")
    with open(folder / "sub" / "new", "wb", buffering=0) as file:
        file.write(b"x" * 10)
        os.pwritev(file.fileno(), [b"AB", b"CD"], 4)
        os.fsync(file.fileno())
    os.replace(folder / "sub" / "new", folder / "sub" / "a")
    with open(folder / "log", "ab", buffering=0) as file:
        file.write(b"one")
        file.write(b"two")
        os.truncate(folder / "log", 5)
    (folder / "old").unlink()
    if len(sys.argv) > 2:
        with open(folder / "log", "r+b") as file:
            if len(sys.argv) > 4:
                file.truncate(int(sys.argv[4]))
            with mmap.mmap(file.fileno(), 0) as memory:
                memory[0] = 1
                exec(sys.argv[3] if len(sys.argv) > 3 else "pass")
    recorder.acknowledged(0)
    recording, unseen = recorder.recording(), recorder.report().unseen
print(json.dumps([recording_data(recording), unseen]))
"""


def recorded(folder: Path, *more: str) -> tuple[Recording, list[str]]:
    (folder / "old").write_text("old")
    command = [sys.executable, "-c", RECORDED, str(folder), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    data, unseen = json.loads(done.stdout)
    return recording_from(data), unseen


@needs_calls
def test_what_a_process_does_to_its_files_is_recorded(tmp_path: Path) -> None:
    recording, unseen = recorded(tmp_path)
    assert unseen == []
    assert unexplained(recording, tmp_path) == ()
    assert recording.initial == {"old": b"old"}
    assert (tmp_path / "sub" / "a").read_bytes() == b"xxxxABCDxx"
    *_, last = PowerCuts(recording)
    assert last.acknowledged == (0,)


@needs_calls
def test_what_is_written_through_a_mapping_is_recorded_and_never_synced(tmp_path: Path) -> None:
    recording, unseen = recorded(tmp_path, "mapped")
    assert unseen == []
    assert unexplained(recording, tmp_path) == ()
    left = {image.files.get("log") for image in PowerCuts(recording) if image.acknowledged}
    assert {b"onetw", b"\1netw"} <= left


@needs_calls
@pytest.mark.parametrize("how", ["memory.flush()", "os.fsync(file.fileno())", "os.sync()"])
def test_a_mapping_is_synced_by_msync_and_by_a_sync_of_its_file_or_of_all(
    how: str, tmp_path: Path
) -> None:
    recording, _ = recorded(tmp_path, "mapped", how)
    left = {image.files.get("log") for image in PowerCuts(recording) if image.acknowledged}
    assert {data[:1] for data in left if data} == {b"\1"}


COPIED = """
import shutil
shutil.copyfile(folder / "sub" / "a", folder / "b")
with open(folder / "sub" / "a", "rb") as source:
    os.copy_file_range(source.fileno(), file.fileno(), 4, 4, 1)
os.posix_fallocate(file.fileno(), 0, 100)
"""


@needs_calls
def test_what_is_copied_from_other_files_and_what_is_reserved_is_recorded(tmp_path: Path) -> None:
    recording, unseen = recorded(tmp_path, "mapped", COPIED)
    assert (unseen, unexplained(recording, tmp_path)) == ([], ())
    assert (tmp_path / "b").read_bytes() == b"xxxxABCDxx"
    assert (tmp_path / "log").read_bytes() == b"\1ABCD".ljust(100, b"\0")


@needs_calls
@pytest.mark.parametrize(
    ("how", "lasts"),
    [
        ("os.pwritev(file.fileno(), [b'ZZ'], 0, os.RWF_DSYNC)", True),
        ("os.pwritev(file.fileno(), [b'ZZ'], 0)", False),
        (
            "import ctypes; os.pwrite(file.fileno(), b'ZZ', 0); "
            "assert ctypes.CDLL(None).sync_file_range(file.fileno(), 0, 0, 7) == 0",
            False,
        ),
    ],
)
def test_a_write_lasts_that_goes_through_and_not_one_that_was_only_sent_off(
    how: str, lasts: bool, tmp_path: Path
) -> None:
    recording, _ = recorded(tmp_path, "mapped", how)
    left = {image.files.get("log") for image in PowerCuts(recording) if image.acknowledged}
    assert ({data[:2] for data in left if data} == {b"ZZ"}) is lasts


LEFT_OPEN = """
import sqlite3
connection = sqlite3.connect(folder / "a.db")
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE t (x)")
{more}
"""


@needs_calls
@pytest.mark.parametrize(
    ("more", "strange"),
    [
        ("pass", ()),
        # Another file of that name is no shared memory.
        ("os.rename(folder / 'a.db-shm', folder / 'b.db-shm')", ("b.db-shm",)),
    ],
)
def test_the_shared_memory_of_a_database_that_is_left_open_needs_no_explanation(
    more: str, strange: tuple[str, ...], tmp_path: Path
) -> None:
    recording, unseen = recorded(tmp_path, "mapped", LEFT_OPEN.format(more=more))
    assert unseen == []
    assert (tmp_path / "a.db-wal").stat().st_size
    assert unexplained(recording, tmp_path) == strange


FAILED = """
recorder.fail_sync(1)
top = os.open(folder, os.O_RDONLY)
os.pwrite(file.fileno(), b"ZZ", 0)
os.fsync(top)
try:
    {sync}
except OSError as error:
    assert error.errno == 5
else:
    raise AssertionError("the sync did not fail")
{again}
os.fsync(file.fileno())
"""


@needs_calls
@pytest.mark.parametrize("sync", ["os.fsync(file.fileno())", "memory.flush()"])
@pytest.mark.parametrize(
    ("again", "lost"), [("pass", True), ("os.pwrite(file.fileno(), b'ZZetw', 0)", False)]
)
def test_what_a_failed_sync_drops_is_lost_until_it_is_written_anew(
    sync: str, again: str, lost: bool, tmp_path: Path
) -> None:
    recording, _ = recorded(tmp_path, "mapped", FAILED.format(sync=sync, again=again))
    assert unexplained(recording, tmp_path) == ()
    failed = recording.log[failed_at(recording) - 1]
    assert (failed.file, failed.result) == ("log", 5)  # type: ignore[union-attr]
    cuts = PowerCuts(recording, since=failed_at(recording))
    left = {image.files["log"][:2] for image in cuts if image.acknowledged}
    assert b"ZZ" in left
    assert (left > {b"ZZ"}) is lost
    named = [str(sync) for syncs in missing_syncs(recording).values() for sync in syncs]
    assert ("no new write of what 'log' lost when its sync failed" in named) is lost


@needs_calls
def test_a_mapping_that_is_too_long_to_be_followed_is_told(tmp_path: Path) -> None:
    recording, unseen = recorded(tmp_path, "mapped", "pass", str(5 << 20))
    assert unseen == ["map log"]
    assert unexplained(recording, tmp_path) == ("log",)


def test_a_write_that_goes_through_is_durable_with_its_page_alone() -> None:
    earlier = IoCall(IoKind.WRITE, "a", 8192, 3, b"far")
    written = IoCall(IoKind.WRITE, "a", 0, 3, b"new")
    through = IoCall(IoKind.SYNC, "a", 0, 3)
    left = left_by(earlier, written, through, DONE)
    assert {data[:3] for data in left if data} == {b"new"}
    assert {len(data) for data in left if data} == {3, 8195}
