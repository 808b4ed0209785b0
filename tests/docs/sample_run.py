"""What the README shows of a run: the first violation, as the terminal has it.

``python -m tests.docs.sample_run`` writes it anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from itertools import takewhile
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"(?<=^```console\n).*?(?=^```$)", flags=re.DOTALL | re.MULTILINE)
ARGUMENTS = ("--saver=langgraph-sqlite", "--saver-families=upsert", "--saver-known=none")
QUICKER = ("--saver-profile=quick", "--saver-api=sync", "--hypothesis-seed=0")
"""What makes no difference to the violation that is shown."""
CI = {"CI", "BUILDKITE", "CIRCLECI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"}
"""What tells Hypothesis that it runs in CI, where it takes no seed, and makes other programs."""
WIDTH = 118


def sample() -> str:
    """The command, and what it says of the first contract that is broken; long lines are cut."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *ARGUMENTS, *QUICKER],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name not in CI},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = done.stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("VIOLATED "))
    told = takewhile(lambda line: line.startswith(("VIOLATED", " ")), lines[start:])
    # Whatever stands between is a table of how many contracts held.
    return "\n".join([f"$ pytest {' '.join(ARGUMENTS)}", "...", *map(_cut, told)]) + "\n"


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 4].rstrip()} ..."


if __name__ == "__main__":
    text = README.read_text("utf-8")
    shown = sample()
    README.write_text(SHOWN.sub(lambda _: shown, text), "utf-8")
