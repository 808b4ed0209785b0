"""Run scripts in processes of their own, forked from one that is kept.

That one is ``process.script_server``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from saverproof.process import script_server
from saverproof.process.channel import Message, MessageChannel

_LOOK_S = 1.0
"""Seconds between two questions whether to end a script: far less than its patience."""

IsOver = Callable[[int, float], bool]
"""Return whether to kill a process, given its id and the seconds since the last call."""


class ScriptProcesses:
    """A runner of scripts, one at a time; ``imports`` are the modules that most of them import.

    The process that runs them is started for the first script, and ends with this object.
    """

    def __init__(self, imports: Sequence[str]) -> None:
        self._imports = imports
        self._channel: MessageChannel | None = None
        self._end: weakref.finalize[..., Any] | None = None

    def run(self, script: Path, is_over: IsOver) -> tuple[int | None, str]:
        """Return the exit status of a script, and what it wrote to standard error.

        ``is_over`` is asked every second whether to kill the script. The status is None if the
        process that ran the script is gone.
        """
        folder = str(script.parent)
        # What a script leaves behind that is killed goes with its own folder.
        environment = {**os.environ, "TMPDIR": folder}
        order = {"script": str(script), "folder": folder, "environment": environment}
        try:
            channel = self._sent(order)
            process = 0
            while "status" not in (told := channel.receive(_LOOK_S) or {}):
                process = told.get("process", process)
                if process and not told and is_over(process, _LOOK_S):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
        except (EOFError, OSError):
            return None, ""
        said = (script.parent / script_server.ERRORS).read_text("utf-8", "replace")
        return told["status"], said

    def _sent(self, order: Message) -> MessageChannel:
        if self._channel is not None:
            try:
                self._channel.send(order)
            except OSError:
                # It was started by a thread that has ended, and ended with it.
                self.close()
            else:
                return self._channel
        self._channel = self._start()
        self._channel.send(order)
        return self._channel

    def _start(self) -> MessageChannel:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            server = [sys.executable, "-P", "-m", script_server.__name__]
            process = subprocess.Popen(
                [*server, str(number), *self._imports], stdin=subprocess.DEVNULL, pass_fds=[number]
            )
        channel = MessageChannel(ours)
        self._end = weakref.finalize(self, _end, process, channel)
        return channel

    def close(self) -> None:
        """End the process that runs the scripts. The next script starts it again."""
        self._channel = None
        if self._end is not None:
            self._end()


def _end(process: subprocess.Popen[bytes], channel: MessageChannel) -> None:
    channel.close()
    process.kill()
    process.wait()
