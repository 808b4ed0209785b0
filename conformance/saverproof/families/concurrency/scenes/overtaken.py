"""Runs in two processes. One is stopped while the other goes on with the same thread and finishes
it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.child import BEFORE, ScenePart, operations_in
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof_faults.kill import Acks

STOPPED, OTHER = 0, 1
_ABOUT_TO_STOP = 1
_NAP_S = 0.001
_GOES_ON_WITHIN_S = 30.0


def stand_still(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Begin a thread, and be stopped. After that, write as if nothing had happened."""
    scene = ScenePart(arguments)

    def play() -> None:
        meeting = Meeting(Path(arguments["meeting"]), STOPPED, 2)
        with scene.saver() as saver:
            scene.alone(saver, BEFORE, operations_in(arguments["before"]))
            with meeting:
                meeting.tell(_ABOUT_TO_STOP)
                # To this thread: another one might stop the process a moment later.
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
            scene.alone(saver, STOPPED, operations_in(arguments["callers"][STOPPED]))

    return scene.played(play)


def finish(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Go on with the thread of the stopped process, then let that process go on."""
    scene = ScenePart(arguments)

    def play() -> None:
        with Meeting(Path(arguments["meeting"]), OTHER, 2) as meeting:
            meeting.await_other(STOPPED, _ABOUT_TO_STOP)
            try:
                with scene.saver() as saver:
                    scene.alone(saver, OTHER, operations_in(arguments["callers"][OTHER]))
            finally:
                _let_go_on(meeting)

    return scene.played(play)


def _let_go_on(meeting: Meeting) -> None:
    """Signal the other process repeatedly to go on: it may have announced its stop before it
    stopped.
    """
    deadline = time.monotonic() + _GOES_ON_WITHIN_S
    while meeting.of(STOPPED) == _ABOUT_TO_STOP and time.monotonic() < deadline:
        with suppress(ProcessLookupError):
            os.kill(meeting.process(STOPPED), signal.SIGCONT)
        time.sleep(_NAP_S)
