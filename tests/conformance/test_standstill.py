"""What moves in a process can only be tested where nothing else does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("standstill_alone.py")
WITHOUT = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")


def test_waits_are_told_from_work() -> None:
    """Threads that other tests have left in this process may move for as long as it lives."""
    command = [sys.executable, "-m", "pytest", *WITHOUT, str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
