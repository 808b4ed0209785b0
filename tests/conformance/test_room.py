"""A full disk, or a folder without permission, is told in one line."""

import errno
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.atomicity.test_atomicity import plan_for

from saverproof.errors import SaverproofError
from saverproof.families.registry import judged
from saverproof.process.scratch import in_memory
from saverproof.savers.execution.storage_errors import NoRoomError, room_in
from saverproof_faults.kill import HarnessError
from saverproof_savers import targets

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "error", [FULL, shutil.Error([("a", "b", str(FULL))]), PermissionError(errno.EACCES, "no")]
)
def test_no_room_is_one_line(error: OSError) -> None:
    says = r"workspaces below /here: found '.*', expected room"
    with pytest.raises(NoRoomError, match=says), room_in("/here"):
        raise error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(FileNotFoundError), room_in("/here"):
        raise FileNotFoundError(errno.ENOENT, "none")
    with pytest.raises(SaverproofError, match="killed: no zygote"), room_in("/here"):
        raise HarnessError("no zygote")


@pytest.mark.parametrize("family", ["atomicity", "durability"])
def test_a_folder_that_cannot_be_made_is_one_line(family: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    plan = replace(plan_for(file / "below", "sync", ["put", "put_writes"]), family=family)
    with pytest.raises(NoRoomError, match="Not a directory"):
        judged(plan, targets.sqlite)


def test_trials_go_where_tmpdir_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert in_memory() is None
    monkeypatch.delenv("TMPDIR")
    assert in_memory() in (None, Path("/dev/shm"))
    monkeypatch.setattr("saverproof.process.scratch._ROOM", 1 << 62)
    assert in_memory() is None


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    for last in (killed, "pass"):
        source = (
            "import pathlib, sys\n"
            "from saverproof.process.scratch import scratch_folder\n"
            f"with scratch_folder(root=pathlib.Path(sys.argv[1])): {last}\n"
        )
        subprocess.run([sys.executable, "-c", source, str(tmp_path)], check=False)
        left = list(tmp_path.iterdir())
        for folder in left:
            os.utime(folder, (0, 0))
        assert len(left) == (last == killed)
