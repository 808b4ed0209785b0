"""A process that outlives its owner for a moment, to end the servers of the owner."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

_SOURCE = "import sys; sys.path[:] = {path!r}; from {module} import watch; watch({folder!r})"


class Reaper:
    """A context manager that cleans up if this process dies.

    Then it ends the watched processes, and removes ``folder``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        path = [entry or os.getcwd() for entry in sys.path]
        source = _SOURCE.format(path=path, module=__name__, folder=str(self._folder))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.communicate()

    def watch(self, pid: int) -> None:
        """End this process and its session if the owner dies."""
        self._say({"watch": pid})

    def release(self, pid: int) -> None:
        """Forget a process that has ended."""
        self._say({"release": pid})

    def _say(self, order: dict[str, int]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()


def end_with_standard_input() -> None:
    """Let SIGTERM not end this process, whose standard input ends with the process that it cleans
    up after.

    Who ends a service or a container sends the signal to all of its processes at once.
    """
    # Unlike a signal that is ignored, a handler is not inherited by the servers.
    signal.signal(signal.SIGTERM, lambda *_: None)


def watch(folder: str) -> None:
    """Run the reaper until standard input ends."""
    end_with_standard_input()
    pids: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "watch" in order:
            pids.add(order["watch"])
        else:
            pids.discard(order["release"])
    # A server's other processes see that it is gone, and end.
    for pid in pids:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)
