"""What a saver leaves in the temporary folder goes with the run: that of its probe, of the judge,
and of processes that are killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

SAVER = '''
"""A saver whose locks are files in the temporary folder. It leaves them there."""
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from saverproof_savers import SqliteSaver


@contextmanager
def leaving(workspace):
    lock = Path(tempfile.gettempdir(), f"{workspace.name}.lock")
    lock.touch()
    with Path(os.environ["LOCKS"]).open("a") as locks:
        print(lock, file=locks)
    with SqliteSaver.open(workspace.path / "checkpoints.db") as saver:
        yield saver
'''
PROGRAMS = "interface/complete,pending-writes/complete"
KILLS = "durability/acknowledged-survives"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary folder with a short name, as a system's has."""
    with TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


def files_made(folder: Path, temporary: Path, only: str) -> list[Path]:
    """Judge the saver by ``only`` some contracts; return the files that it made in the temporary
    folder.
    """
    (folder / "leaving.py").write_text(SAVER)
    locks = folder / "locks"
    options = ["--saver=leaving.py:leaving", "--saver-api=sync", f"--saver-contracts={only}"]
    ours = ("PYTEST", "SAVERPROOF")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--saver-profile=quick",
            *options,
        ],
        cwd=folder,
        env={**environment, "TMPDIR": str(temporary), "LOCKS": str(locks)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    return [Path(line) for line in locks.read_text().splitlines()]


def test_what_a_saver_leaves_behind_goes_with_the_run(tmp_path: Path, temporary: Path) -> None:
    made = files_made(tmp_path, temporary, f"{PROGRAMS},{KILLS}")
    assert all(path.is_relative_to(temporary) for path in made)
    # One for the probe; all that is judged is in the other, killed processes included.
    assert len({path.parent for path in made}) == 2
    assert list(temporary.iterdir()) == []


def test_a_folder_with_a_long_name_is_used_as_it_is(tmp_path: Path, temporary: Path) -> None:
    # A saver's socket in a folder of its own below it could not be opened.
    long = temporary / ("x" * 40)
    long.mkdir()
    assert {path.parent for path in files_made(tmp_path, long, PROGRAMS)} == {long}
