"""A loop that stands still is told from one that goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("waits_alone.py")


def test_a_loop_that_stands_still_is_seen() -> None:
    """Threads that other tests have left in this process may move for as long as it lives."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
