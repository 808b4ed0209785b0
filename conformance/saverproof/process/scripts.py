"""Scripts in processes of their own, made by one that is kept (``process.script_server``)."""

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

IsOver = Callable[[int, float], bool]
"""Given a process, and the seconds that passed since the last time: whether to end it."""


class ScriptProcesses:
    """Runs one script after the other; ``imports`` are the modules that most of them import.

    What runs them is started when it is needed first, and ends with this object.
    """

    def __init__(self, imports: Sequence[str]) -> None:
        self._imports = imports
        self._channel: MessageChannel | None = None
        self._end: weakref.finalize[..., Any] | None = None

    def run(self, script: Path, is_over: IsOver) -> tuple[int | None, str]:
        """The exit status of a script, and what it wrote to standard error.

        ``is_over`` is asked every second whether to kill it. None: what ran it is gone.
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
        """End what runs the scripts; it is started again when it is needed."""
        self._channel = None
        if self._end is not None:
            self._end()


def _end(process: subprocess.Popen[bytes], channel: MessageChannel) -> None:
    channel.close()
    process.kill()
    process.wait()
