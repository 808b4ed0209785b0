"""Folders that nobody claims any more are removed, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from saverproof_faults.abandoned import claim, remove_abandoned

HOLDING = """
import pathlib, sys
from saverproof_faults.abandoned import claim
claim(pathlib.Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()
"""


def old_folder(path: Path) -> Path:
    path.mkdir()
    (path / "file").touch()
    os.utime(path, (time.time() - 3_600,) * 2)
    return path


def test_only_what_is_old_and_of_nobody_is_removed(tmp_path: Path) -> None:
    abandoned, claimed = (old_folder(tmp_path / f"mine-{name}") for name in ("a", "b"))
    other = old_folder(tmp_path / "other-c")
    new = tmp_path / "mine-new"
    new.mkdir()
    link = tmp_path / "mine-link"
    link.symlink_to(other)
    descriptor = claim(claimed)
    remove_abandoned(tmp_path, "mine-*")
    assert not abandoned.exists()
    assert all(path.exists() for path in (claimed / "file", other / "file", new, link))
    os.close(descriptor)
    remove_abandoned(tmp_path, "mine-*")
    assert not claimed.exists()


def test_a_claim_ends_with_the_process_that_was_killed(tmp_path: Path) -> None:
    folder = old_folder(tmp_path / "mine")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    remove_abandoned(tmp_path, "mine")
    assert folder.exists()
    process.kill()
    process.communicate()
    remove_abandoned(tmp_path, "mine")
    assert not folder.exists()
