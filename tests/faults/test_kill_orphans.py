"""When the test process dies, whatever kills it, no process and no folder is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.kill_ends import has_ended

HOLDER = Path(__file__).with_name("kill_holder.py")
PATIENCE_S = 30.0


def run_holder(scratch: Path, pids: Path, ending: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(HOLDER), str(scratch), str(pids), ending])


def wait_for(path: Path, holder: subprocess.Popen[bytes]) -> str:
    """What a file says once it is there."""
    while not path.exists():
        with pytest.raises(subprocess.TimeoutExpired):
            holder.wait(0.01)
    return path.read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_test_run_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    scratch, pids = tmp_path / "scratch", tmp_path / "pids"
    scratch.mkdir()
    with run_holder(scratch, pids, "wait") as holder:
        child, zygote = (int(pid) for pid in wait_for(pids, holder).split())
        assert len(list(scratch.iterdir())) == 1
        holder.send_signal(number)
        holder.wait(PATIENCE_S)
        assert has_ended(child, patience_s=PATIENCE_S)
        assert has_ended(zygote, patience_s=PATIENCE_S)
    assert not list(scratch.iterdir())


def test_a_harness_that_nobody_closed_leaves_nothing(tmp_path: Path) -> None:
    with run_holder(tmp_path, tmp_path / "pids", "forget") as holder:
        assert holder.wait(PATIENCE_S) == 0
    assert not list(tmp_path.iterdir())


def test_a_killed_zygote_takes_its_processes_with_it(tmp_path: Path) -> None:
    scratch, pids = tmp_path / "scratch", tmp_path / "pids"
    scratch.mkdir()
    with run_holder(scratch, pids, "wait") as holder:
        child, zygote = (int(pid) for pid in wait_for(pids, holder).split())
        os.kill(zygote, signal.SIGKILL)
        assert has_ended(child, patience_s=PATIENCE_S)
        holder.send_signal(signal.SIGINT)
        holder.wait(PATIENCE_S)
    assert not list(scratch.iterdir())
