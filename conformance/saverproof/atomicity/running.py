"""Runs a script in a process of its own, to be sure that it shows what it says."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from saverproof.process import pulse

PATIENCE_S = 20.0
"""Seconds that a script may take; most of them are the imports of LangGraph."""


def complains(text: str, promise: str) -> bool:
    """Whether the script ends with 1 and a message with the promise."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(text, encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
        ) as process:
            said = _said(process)
    return process.returncode == 1 and promise in said


def _said(process: subprocess.Popen[bytes]) -> str:
    """What the script says; it is killed if it takes too long."""
    end = time.monotonic() + PATIENCE_S
    while True:
        pulse.beat(0)
        try:
            return process.communicate(timeout=1.0)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                process.kill()
