"""System calls of any library, seen and failed by a supervisor process."""

import mmap
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from saverproof_faults import Unavailable
from saverproof_faults.syscalls import (
    CallFailure,
    CallFault,
    CallKind,
    CallWatch,
    Extent,
    available,
    can_fail,
)
from saverproof_faults.syscalls.numbers import by_number, processor

T = TypeVar("T")

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


class Covered:
    """A watch, and a thread that it covers: filters go with their thread."""

    def __init__(self, watch: CallWatch, thread: ThreadPoolExecutor, folder: Path) -> None:
        self.watch, self.folder = watch, folder
        self._thread = thread

    def submit(self, work: Callable[[], T]) -> Future[T]:
        return self._thread.submit(work)

    def run(self, work: Callable[[], T]) -> T:
        return self.submit(work).result()

    def seen(self, work: Callable[[], object]) -> list[str]:
        with self.watch.counting() as calls:
            self.run(work)
        return [str(call) for call in calls]

    def store(self, text: str = "x" * 100) -> None:
        """Replace the file "a" by a new one, and make it last."""
        new, path = self.folder / "a.new", self.folder / "a"
        with open(new, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        sync(self.folder)


def sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@pytest.fixture
def covered(tmp_path: Path) -> Iterator[Covered]:
    folder = tmp_path / "store"
    folder.mkdir()
    with CallWatch(folder) as watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        yield Covered(watch, thread, folder)


STORING = [
    "open a.new",
    "write a.new 100 bytes",
    "sync a.new",
    "rename a.new to a",
    "sync folder .",
]


def test_the_calls_of_an_operation_are_seen_in_order(covered: Covered) -> None:
    assert covered.seen(covered.store) == STORING


def is_held(thread: int) -> bool:
    """Whether a thread of this process is in a system call that a watch would hold."""
    number, *_ = Path(f"/proc/self/task/{thread}/syscall").read_text().split()
    return number.isdecimal() and int(number) in by_number(processor() or "")


def test_all_that_was_said_before_a_call_is_heard_before_it(covered: Covered) -> None:
    caller = covered.run(threading.get_native_id)
    supervisor = psutil.Process(covered.watch.supervisor)
    supervisor.suspend()
    with covered.watch.counting() as calls:
        covered.watch.arm(CallFault(1))
        stored = covered.submit(covered.store)
        while not is_held(caller):
            threading.Event().wait(0.01)
        supervisor.resume()
        assert isinstance(stored.exception(), OSError)
    covered.watch.disarm()
    assert [str(call) for call in calls] == STORING[:1]


def test_files_elsewhere_are_let_alone(covered: Covered, tmp_path: Path) -> None:
    (tmp_path / "store-2").mkdir()

    def elsewhere() -> None:
        (tmp_path / "store-2" / "b").write_text("text")
        (tmp_path / "b").write_text("text")

    covered.watch.arm(CallFault(1, extent=Extent.ONWARDS))
    assert covered.seen(elsewhere) == []
    covered.watch.disarm()
    assert covered.watch.fired == []


@pytest.mark.parametrize("failure", [CallFailure.IO_ERROR, CallFailure.DISK_FULL])
def test_every_place_can_be_failed(covered: Covered, failure: CallFailure) -> None:
    with covered.watch.counting() as places:
        covered.run(covered.store)
    for place, call in enumerate(places, start=1):
        assert can_fail(call, failure)
        (covered.folder / "a.new").unlink(missing_ok=True)
        with (
            pytest.raises(OSError, match=os.strerror(failure.error)) as raised,
            covered.watch.failing(CallFault(place, failure)),
        ):
            covered.run(covered.store)
        assert raised.value.errno == failure.error
        assert [str(call)] == [str(fired) for fired in covered.watch.fired]


def test_a_failed_call_did_not_happen(covered: Covered) -> None:
    (covered.folder / "a").write_text("before")
    for place in range(1, 5):
        with suppress(OSError), covered.watch.failing(CallFault(place)):
            covered.run(covered.store)
        assert (covered.folder / "a").read_text() == "before"


def test_a_fault_strikes_once_or_from_there_on(covered: Covered) -> None:
    def three() -> list[bool]:
        done = []
        for name in "abc":
            try:
                (covered.folder / name).write_text("text")
                done.append(True)
            except OSError:
                done.append(False)
        return done

    kind = CallKind.WRITE
    with covered.watch.failing(CallFault(2, CallFailure.DISK_FULL, kind=kind)):
        assert covered.run(three) == [True, False, True]
    with covered.watch.failing(CallFault(2, CallFailure.DISK_FULL, Extent.ONWARDS, kind)):
        assert covered.run(three) == [True, False, False]
    with covered.watch.failing(CallFault(1, CallFailure.DISK_FULL, kind=kind, file="c")):
        assert covered.run(three) == [True, True, False]


def test_a_full_disk_refuses_what_needs_room(covered: Covered) -> None:
    (covered.folder / "a").write_text("text")

    def lets_go() -> None:
        os.truncate(covered.folder / "a", 1)
        (covered.folder / "a").read_text()
        (covered.folder / "a").unlink()

    with covered.watch.failing(CallFault(1, CallFailure.DISK_FULL, Extent.ONWARDS)):
        covered.run(lets_go)
    assert covered.watch.fired == []


def test_a_short_write_leaves_the_first_half(covered: Covered) -> None:
    path = covered.folder / "a"

    def written() -> tuple[int, int, int]:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            first = os.write(descriptor, b"01234567")
            second = os.pwritev(descriptor, [b"AB", b"CDEF"], 8)
            return first, second, os.lseek(descriptor, 0, os.SEEK_CUR)
        finally:
            os.close(descriptor)

    short = CallFault(1, CallFailure.SHORT_WRITE, Extent.ONWARDS, CallKind.WRITE)
    with covered.watch.failing(short):
        assert covered.run(written) == (4, 3, 4)
    assert path.read_bytes() == b"0123\0\0\0\0ABC"


def test_who_goes_on_after_a_short_write_has_written_all(covered: Covered) -> None:
    with covered.watch.failing(CallFault(1, CallFailure.SHORT_WRITE, kind=CallKind.WRITE)):
        covered.run(covered.store)
    assert len(covered.watch.fired) == 1
    assert (covered.folder / "a").read_text() == "x" * 100


def test_a_failed_read_reaches_the_reader(covered: Covered) -> None:
    (covered.folder / "a").write_text("text")
    with (
        covered.watch.failing(CallFault(1, kind=CallKind.READ)),
        pytest.raises(OSError, match="Input/output error"),
    ):
        covered.run(lambda: (covered.folder / "a").read_text())


def test_one_thread_takes_many_plans_one_after_the_other(covered: Covered) -> None:
    path = covered.folder / "a"
    for number in range(1_000):
        with suppress(OSError), covered.watch.failing(CallFault(1 + number % 2)):
            covered.run(lambda: path.write_text("text"))
        assert len(covered.watch.fired) == 1
    covered.run(lambda: path.write_text("text"))
    assert path.read_text() == "text"


def test_threads_and_processes_of_the_thread_are_covered(covered: Covered) -> None:
    def by_a_thread() -> None:
        thread = threading.Thread(target=covered.store)
        thread.start()
        thread.join()

    path = covered.folder / "b"
    script = f"open({str(path)!r}, 'w').write('text')"
    assert covered.seen(by_a_thread) == STORING
    seen = covered.seen(lambda: subprocess.run([sys.executable, "-S", "-c", script], check=True))
    assert seen == ["open b", "write b 4 bytes"]


def test_other_threads_are_not(covered: Covered) -> None:
    assert covered.seen(lambda: None) == []
    covered.store()
    assert covered.seen(lambda: None) == []


def test_two_threads_can_be_covered_at_once(covered: Covered) -> None:
    watch = covered.watch
    with ThreadPoolExecutor(1, initializer=watch.cover) as other, watch.counting() as calls:
        other.submit(covered.store).result()
        covered.run(covered.store)
    assert len(calls) == 2 * len(STORING)


def test_paths_relative_to_folders_are_understood(covered: Covered) -> None:
    (covered.folder / "sub").mkdir()
    (covered.folder / "a").write_text("text")
    (covered.folder.parent / "link").symlink_to(covered.folder)

    def changes() -> None:
        folder = os.open(covered.folder, os.O_RDONLY)
        try:
            os.rename("a", "b", src_dir_fd=folder, dst_dir_fd=folder)
            os.link("b", "sub/c", src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)
        os.unlink(covered.folder / "sub" / ".." / "b")
        os.unlink(covered.folder.parent / "link" / "sub" / "c")
        os.rmdir(covered.folder / "sub")

    assert covered.seen(changes) == [
        "rename a to b",
        "link b to sub/c",
        "delete b",
        "delete sub/c",
        "delete folder sub",
    ]


def test_a_library_in_c_gets_its_own_error(covered: Covered) -> None:
    def inserted() -> None:
        with closing(sqlite3.connect(covered.folder / "a.db")) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
            connection.execute("INSERT INTO t VALUES (1)")

    covered.run(inserted)
    full = CallFault(1, CallFailure.DISK_FULL, kind=CallKind.WRITE)
    with covered.watch.failing(full), pytest.raises(sqlite3.OperationalError, match="full"):
        covered.run(inserted)


def test_a_shared_mapping_is_named_as_unseen(covered: Covered) -> None:
    path = covered.folder / "a"
    path.write_bytes(bytes(mmap.PAGESIZE))

    def mapped() -> None:
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[0] = 1

    def privately() -> None:
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE) as memory:
            memory[0] = 1

    covered.run(privately)
    assert covered.watch.report().unseen == ()
    assert covered.seen(mapped) == ["open a"]
    assert covered.watch.report().unseen == ("map a",)


def test_a_process_is_killed_before_its_call(covered: Covered) -> None:
    script = f"import os; os.mkdir({str(covered.folder / 'a')!r})"
    with covered.watch.failing(CallFault(1, CallFailure.KILLED)):
        done = covered.run(lambda: subprocess.run([sys.executable, "-S", "-c", script]))
    assert done.returncode == -signal.SIGKILL
    assert len(covered.watch.fired) == 1
    assert list(covered.folder.iterdir()) == []


def test_a_thread_that_is_covered_already_is_refused_in_a_sentence(
    covered: Covered, tmp_path: Path
) -> None:
    with CallWatch(tmp_path) as other, pytest.raises(Unavailable, match="another program listens"):
        covered.run(other.cover)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        CallWatch(tmp_path / "nowhere")


def test_where_a_write_begins_is_known(covered: Covered) -> None:
    path = covered.folder / "a"
    path.write_bytes(b"x" * 100)

    def appended() -> None:
        with open(path, "ab", buffering=0) as file:
            file.write(b"y" * 10)
        with open(path, "r+b", buffering=0) as file:
            file.seek(7)
            file.write(b"z")
            os.pwrite(file.fileno(), b"z", 50)

    with covered.watch.counting() as calls:
        covered.run(appended)
    assert [call.offset for call in calls if call.kind is CallKind.WRITE] == [100, 7, 50]
