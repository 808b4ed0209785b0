"""Runs in two processes; one of them holds the lock of the store's file for a while."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.child import AFTER, BEFORE, ScenePart, operations_in
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.watching import LOCK_PATIENCE_S
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof_faults.kill import Acks
from saverproof_faults.sqlite import raw

CALLER, HOLDER = 0, 1
_READY, _CALLING = 1, 2
_HELD, _RELEASED = 1, 2


def call(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Use the store before, while and after the other process holds its lock."""
    scene = ScenePart({**arguments, "patience_s": LOCK_PATIENCE_S + arguments["hold_s"]})

    def play() -> None:
        meeting = Meeting(Path(arguments["meeting"]), CALLER, 2)
        with meeting, scene.saver() as saver:
            scene.alone(saver, BEFORE, operations_in(arguments["before"]))
            meeting.tell(_READY)
            meeting.await_other(HOLDER, _HELD)
            meeting.tell(_CALLING)
            scene.alone(saver, 0, operations_in(arguments["held"]))
            meeting.await_other(HOLDER, _RELEASED)
            scene.alone(saver, 1, operations_in(arguments["released"]))
            with scene.saver() as fresh:
                scene.alone(fresh, AFTER, operations_in(arguments["after"]))

    return scene.played(play)


def hold(acks: Acks, arguments: Mapping[str, Any]) -> bool:
    """Hold the lock, from when the other process is ready until some time after its call began.
    Return whether there was a file to lock.
    """
    with Meeting(Path(arguments["meeting"]), HOLDER, 2) as meeting:
        meeting.await_other(CALLER, _READY)
        file = next(sqlite_files(Path(arguments["path"])), None)
        if file is None:
            return False
        with closing(raw.connect(file, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            meeting.tell(_HELD)
            meeting.await_other(CALLER, _CALLING)
            time.sleep(arguments["hold_s"])
            connection.execute("ROLLBACK")
    return True
