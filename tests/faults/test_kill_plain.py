"""Where a fork would not be right, each process is a fresh interpreter, and the reason is told."""

import re
import sys
from pathlib import Path

import pytest

from saverproof_faults.kill import DiedBy, Harness, KillAt, Writer

HERE = str(Path(__file__).parent)

THREAD = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
OPEN_FILE = "from pathlib import Path\nfile = Path(__file__).with_suffix('.log').open('w')\n"
SOCKET = "import socket\npair = socket.socketpair()\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (THREAD, r"importing troubling, kill_bodies left 2 threads running"),
        (OPEN_FILE, r"left open: .*troubling\.log"),
        (SOCKET, r"left open: socket:"),
    ],
)
def test_a_kill_works_without_a_fork(tmp_path: Path, source: str, reason: str) -> None:
    (tmp_path / "troubling.py").write_text(source)
    path = [str(tmp_path), HERE, *sys.path]
    with Harness(imports=["troubling", "kill_bodies"], path=path) as harness:
        assert re.search(reason, str(harness.reason))
        with harness.folder() as folder:
            arguments = {"path": str(folder / "a.db")}
            result = harness.trial("kill_bodies:write", arguments, kill=KillAt.place(20))
            view = harness.look("kill_bodies:read", arguments)
    result.require_kill()
    assert view.value["check"] == "ok"
    assert set(result.acknowledged) <= set(view.value["whole"])


def test_two_fresh_writers_share_a_store(tmp_path: Path) -> None:
    (tmp_path / "troubling.py").write_text(THREAD)
    path = [str(tmp_path), HERE, *sys.path]
    with Harness(imports=["troubling"], path=path) as harness, harness.folder() as folder:
        arguments = {"path": str(folder / "a.db")}
        harness.look("kill_bodies:read", arguments)
        killed, survivor = harness.together(
            [
                Writer("kill_bodies:write", arguments, KillAt.place(25)),
                Writer("kill_bodies:write_until_alone", arguments),
            ],
            deadline_s=30,
        )
    killed.require_kill()
    assert survivor.died_by is DiedBy.FINISHED
    assert survivor.acknowledged == tuple(range(1000, 1005))
