"""Parts of standalone scripts that run as two processes: the script starts itself again as the
other process.
"""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening

STARTED = (
    "subprocess.Popen([sys.executable, __file__, path], stdin=subprocess.PIPE, "
    "stdout=subprocess.PIPE, text=True)"
)
"""The expression that starts the other process, for the store in the folder ``path``."""


def as_the_other(opening: Opening, lines: Sequence[str]) -> list[str]:
    """Return the first lines of a script: if it runs as the other process, it opens a saver and
    runs these lines.
    """
    doing = ["path = sys.argv[1]", *opening.opened(lines), "sys.exit()"]
    return ["if len(sys.argv) > 1:  # the other process", *indented(doing)]
