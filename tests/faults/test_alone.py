"""Tests that need a process without the threads of others: callers who meet, loops that stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")


@pytest.mark.parametrize("cases", ["meeting_alone.py", "waits_alone.py"])
def test_it_is_seen_in_a_process_of_its_own(cases: str) -> None:
    """Threads that other tests have left in this process may move for as long as it lives."""
    path = str(Path(__file__).with_name(cases))
    command = [sys.executable, "-m", "pytest", *WITHOUT, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
