"""pytest as a command starts it: it hears of Ctrl-C and SIGTERM, and is waited for."""

import signal
import subprocess
import sys
from collections.abc import Sequence


def run_pytest(arguments: Sequence[str]) -> int:
    """Run pytest beside this process, and return its exit status when it has tidied up.

    An interrupted run writes the report of what it knows, and ends its processes. That takes
    seconds; ``subprocess.run`` would kill it a quarter of a second after Ctrl-C.
    """
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments]) as process:
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            status = _waited(process)
        finally:
            signal.signal(signal.SIGTERM, before)
    # As shells do for a process that a signal ended.
    return status if status >= 0 else 128 - status


def _waited(process: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # A terminal tells each of its processes: pytest knows, too.
            continue
