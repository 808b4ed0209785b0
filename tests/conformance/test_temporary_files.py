"""What a saver leaves in the temporary folder goes with the run: that of its probe, of the judge,
and of processes that are killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
ONLY = "interface/complete,pending-writes/complete,durability/acknowledged-survives"


def test_what_a_saver_leaves_behind_goes_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(SAVER)
    temporary, locks = tmp_path / "temporary", tmp_path / "locks"
    temporary.mkdir()
    options = ["--saver=leaving.py:leaving", "--saver-api=sync", f"--saver-contracts={ONLY}"]
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
        cwd=tmp_path,
        env={**environment, "TMPDIR": str(temporary), "LOCKS": str(locks)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    made = [Path(line) for line in locks.read_text().splitlines()]
    assert all(path.is_relative_to(temporary) for path in made)
    # One for the probe; all that is judged is in the other, killed processes included.
    assert len({path.parent for path in made}) == 2
    assert list(temporary.iterdir()) == []
