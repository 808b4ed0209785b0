"""Runs in the processes that race for a new store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from saverproof.errors import OpeningError, describe
from saverproof.families.concurrency.callers.child import ScenePart, operations_in
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.schedules import pause_around_calls
from saverproof.families.concurrency.callers.watching import LOCK_PATIENCE_S, watch
from saverproof.programs.steps.codec import encode
from saverproof_faults.kill import Acks
from saverproof_faults.sqlite import raw

_NAP_S = 0.0005
_HOLD_S = 0.4
_LONGEST_HOLD_S = 4.0
_LONGEST_OWN_S = 5.0
"""Seconds for which an error of the target's own function is tried again."""


def race(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Open a store that does not exist yet, while other processes do the same, and use it at once.

    Return "events"; "opening", what opening the store raised, or None; "met", whether it made its
    first database calls while others made theirs; "standstill".
    """
    scene = ScenePart(arguments)
    seen: dict[str, Any] = {"opening": None, "met": False}

    def guarded() -> None:
        number = arguments["caller"]
        meeting = Meeting(Path(arguments["meeting"]), number, arguments["racers"])
        with meeting:
            if arguments["side_by_side"]:
                pause_around_calls(meeting.step)
                meeting.step()
            else:
                meeting.tell(1)
            try:
                with _opened(scene) as saver:
                    scene.alone(saver, number, operations_in(arguments["callers"][number]))
            except Exception as error:  # noqa: BLE001 - a saver may raise anything; an answer
                seen["opening"] = describe(error)
            seen["met"] = meeting.met

    still = watch(guarded, scene.progress, scene.loop, LOCK_PATIENCE_S)
    events = [encode(event) for caller in scene.callers for event in caller.events]
    return seen | {"events": events, "standstill": encode(still)}


@contextmanager
def _opened(scene: ScenePart) -> Iterator[Any]:
    """Open a saver on the store. If the target's own function fails because of another process,
    open it again: that is no fault of the saver.
    """
    began = time.perf_counter()
    with ExitStack() as stack:
        while True:
            try:
                saver = stack.enter_context(scene.saver_at_once())
                break
            except OpeningError as error:
                late = time.perf_counter() - began > _LONGEST_OWN_S
                if late or not scene.is_targets_own(error):
                    raise
                time.sleep(_NAP_S)
        yield saver


@contextmanager
def held(file: Path, meeting: Path, racers: int) -> Iterator[None]:
    """Hold the lock of a new SQLite file until a moment after all racing processes have started.

    The file is then as if a process had begun to write to it, and had not set it up yet.
    """
    ready = threading.Event()
    arguments = (file, meeting, racers, ready)
    thread = threading.Thread(target=_hold, args=arguments, name="saverproof-hold", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        thread.join()


def _hold(file: Path, meeting: Path, racers: int, ready: threading.Event) -> None:
    with ExitStack() as stack:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            connection = stack.enter_context(closing(raw.connect(file, isolation_level=None)))
            connection.execute("BEGIN IMMEDIATE")
        finally:
            ready.set()
        deadline = time.monotonic() + _LONGEST_HOLD_S
        while time.monotonic() < deadline:
            time.sleep(_NAP_S)
            if Meeting.have_all_told(meeting, racers):
                break
        time.sleep(_HOLD_S)
        connection.execute("ROLLBACK")
