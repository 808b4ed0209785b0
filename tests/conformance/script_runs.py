"""Scripts in processes of their own, forked from one that has imported what most of them do."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from unittest.mock import patch

from saverproof.process.scripts import ScriptProcesses

PATIENCE_S = 120.0
CANNOT_TELL = 2
"""How a script ends that has shown nothing, as when the saver cannot be opened."""
_ROOT = Path(__file__).parents[2]


class ScriptRuns:
    """Runs scripts that find the tests' modules, too, one after the other."""

    def __init__(self, *imports: str) -> None:
        self._processes = ScriptProcesses(imports)

    def run(self, script: Path) -> tuple[int, str]:
        """The exit status of a script, and what it wrote to standard error."""
        until = time.monotonic() + PATIENCE_S
        with patch.dict(os.environ, PYTHONPATH=str(_ROOT)):
            status, said = self._processes.run(script, lambda *_: time.monotonic() > until)
        assert status is not None, said
        return status, said


_RUNS = ScriptRuns(
    "langgraph.graph", "langgraph.checkpoint.memory", "saverproof", "tests.wrong_savers"
)


def ended_here(text: str) -> tuple[int, str]:
    """The same in this process, which takes a hundredth of the time."""
    with patch.object(sys, "excepthook", sys.excepthook):  # a script has its own
        try:
            exec(compile(text, "<script>", "exec"), {"__name__": "script"})
        except SystemExit as ending:
            code = ending.code or 0
            return (code, "") if isinstance(code, int) else (1, code)
        except Exception as error:  # noqa: BLE001 - what the script's hook would be told
            return CANNOT_TELL, repr(error)
    return 0, ""


def ended(text: str, folder: Path) -> tuple[int, str]:
    """How a script ends in that folder: its exit status, and what it writes to standard error."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return _RUNS.run(script)
