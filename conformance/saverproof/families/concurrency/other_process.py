"""Standalone scripts that are two processes: each starts itself again as the other one."""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening

STARTED = (
    "subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE, "
    "stdout=subprocess.PIPE, text=True)"
)
"""The expression that starts the other process for the store below ``path``."""


def as_the_other(opening: Opening, lines: Sequence[str]) -> list[str]:
    """Return what a script does before all else: these lines, with a saver of its own, if it is
    the other process.
    """
    doing = ["path = sys.argv[1]", *opening.opened(lines), "sys.exit()"]
    return ["if len(sys.argv) > 1:  # the other process", *indented(doing)]
