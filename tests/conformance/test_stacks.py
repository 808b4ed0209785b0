"""Where other threads stand, while they go on."""

import subprocess
import sys
from pathlib import Path


def test_frames_that_end_while_they_are_looked_at_end_nothing_else() -> None:
    """What went wrong there would end this process, too."""
    program = Path(__file__).with_name("stacks_alone.py")
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
