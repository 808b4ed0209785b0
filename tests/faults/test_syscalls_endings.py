"""A supervisor ends with those whose system calls it holds, and hangs nobody that goes on."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.faults.kill_ends import has_ended

from saverproof_faults import FaultsError
from saverproof_faults.syscalls import CallFault, CallWatch, Extent, available

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


def test_a_supervisor_that_dies_hangs_nobody(tmp_path: Path) -> None:
    watch = CallWatch(tmp_path)
    with watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        path = tmp_path / "a"
        thread.submit(path.write_text, "before").result()
        os.kill(watch.supervisor, signal.SIGKILL)
        failed = thread.submit(path.write_text, "after").exception()
        assert isinstance(failed, OSError)
        assert failed.errno == errno.ENOSYS
        with pytest.raises(FaultsError, match="has died"):
            watch.report()


def test_leaving_ends_the_supervisor(tmp_path: Path) -> None:
    with CallWatch(tmp_path) as watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        thread.submit((tmp_path / "a").write_text, "text").result()
    with pytest.raises(ProcessLookupError):
        os.kill(watch.supervisor, 0)


def test_who_outlives_the_watch_goes_on(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread:
        with CallWatch(tmp_path) as watch:
            thread.submit(watch.cover).result()
            watch.arm(CallFault(1, extent=Extent.ONWARDS))
        thread.submit((tmp_path / "a").write_text, "text").result()
    assert (tmp_path / "a").read_text() == "text"


def test_the_supervisor_goes_with_its_client(tmp_path: Path) -> None:
    script = f"""
from concurrent.futures import ThreadPoolExecutor
import os
from saverproof_faults.syscalls import CallWatch
with CallWatch({str(tmp_path)!r}) as watch, ThreadPoolExecutor(1) as thread:
    thread.submit(watch.cover).result()
    print(watch.supervisor, flush=True)
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    assert has_ended(int(done.stdout), patience_s=60)


KILLED = """
import mmap, os, sys
from saverproof_faults.syscalls import CallFailure, CallFault, ForkedCallWatch
shared = mmap.mmap(int(sys.argv[2]), 1)
watch = ForkedCallWatch(sys.argv[1], lambda: shared.write_byte(1))
watch.__enter__().cover()
print(watch.supervisor, flush=True)
with open(sys.argv[1] + "/a", "wb", buffering=0) as file:
    file.write(b"x" * 10)
    with watch.counting() as calls:
        file.write(b"x" * 5000)
    assert [call.to_page_end for call in calls] == [4086], calls
    watch.arm(CallFault(1, CallFailure.KILLED_WRITING))
    file.write(b"x" * 10)
    watch.arm(CallFault(1, CallFailure.KILLED_WRITING))
    file.write(b"x" * 10_000)
"""


def test_a_process_is_killed_between_two_pages_by_its_own_child(tmp_path: Path) -> None:
    descriptor = os.memfd_create("killed")
    os.truncate(descriptor, 1)
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(descriptor)]
    done = subprocess.run(command, pass_fds=[descriptor], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert os.pread(descriptor, 1, 0) == b"\x01"
    # Written: 10, 5,000 and 10 bytes, then up to the last page of 15,020.
    assert (tmp_path / "a").stat().st_size == 15_020 // 4096 * 4096
    os.close(descriptor)
    assert has_ended(int(done.stdout), patience_s=60)
