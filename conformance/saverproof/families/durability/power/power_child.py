"""Runs in the process whose I/O is recorded, and in the processes that open images of its disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.errors import describe
from saverproof.families.durability.kills.child import saver_for, settled
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.settled_calls import SettledCall, perform
from saverproof_faults.io import Recorder, Recording
from saverproof_faults.io.data import recording_data
from saverproof_faults.kill import Acks
from saverproof_faults.kill.process import threads
from saverproof_faults.power import unexplained
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.watch import Watch
from saverproof_faults.syscalls import CallRecorder

Arguments = Mapping[str, Any]

_OPENINGS = 3
"""How often a saver that refuses to go on is opened again: the opening itself may fail as well."""
_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def record(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Run the program, with the saver closed and opened again in the middle, and record all I/O.

    The recording goes to the file that the arguments name. Return the settings of the connections,
    the files that the recording does not explain, and the errors of calls whose sync failed.
    """
    folder = arguments["path"]
    settings: dict[str, None] = {}
    with Watch() as watch, Recorder(folder) as recorder:
        raised = _run(
            arguments,
            recorder,
            lambda: settings.update(dict.fromkeys(map(_setting, watch.connections))),
        )
        recording = recorder.recording()
    # An empty file holds nothing that could be torn: a lock, say.
    strange = [name for name in unexplained(recording, folder) if _holds(folder, name)]
    _keep(recording, arguments)
    found = {"settings": [*settings], "unexplained": strange, "unseen": [], "raised": raised}
    return found | {"unmodelled": ""}


def record_files(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Do the same as :func:`record`, but record the system calls on the store's files, whichever
    library makes them.

    Return also which writes could be missed, and which files cannot be put on a disk. Raises
    RuntimeError in a process with threads, which cannot be covered.
    """
    if threads() > 1:
        raise RuntimeError("importing the saver leaves threads running, which cannot be recorded")
    folder = arguments["path"]
    with CallRecorder(folder) as recorder:
        raised = _run(arguments, recorder, lambda: None)
        recording, unseen = recorder.recording(), recorder.report().unseen
    _keep(recording, arguments)
    strange: tuple[str, ...] = ()
    unmodelled = ""
    try:
        strange = unexplained(recording, folder)
    except ValueError as problem:
        unmodelled = str(problem)
    found = {"settings": [], "unexplained": [*strange], "unseen": [*unseen], "raised": raised}
    return found | {"unmodelled": unmodelled}


def _keep(recording: Recording, arguments: Arguments) -> None:
    text = json.dumps(recording_data(recording))
    Path(arguments["recording"]).write_text(text, encoding="utf-8")


def _run(
    arguments: Arguments, recorder: Recorder | CallRecorder, on_open: Callable[[], object]
) -> list[tuple[int, str]]:
    """Run both halves of the program; ``on_open`` is called at the end of each, with the saver
    open.

    Returns the numbers of the operations that raised, each with its error. There are none, unless
    the arguments name a sync that fails.
    """
    total = len(arguments["program"])
    halves = [*range(total // 2)], [*range(total // 2, total)]
    playing = _Playing(arguments, recorder)
    if "failed_sync" not in arguments:
        for half in halves:
            playing.play(half, perform, on_open)
        return []
    recorder.fail_sync(arguments["failed_sync"])
    for half in halves:
        playing.play_on(half, on_open)
        if half:
            break
    return playing.raised


@dataclass(slots=True)
class _Playing:
    """Plays a program in two halves. A call's number is removed from its half when the call
    returns.
    """

    arguments: Arguments
    recorder: Recorder | CallRecorder
    begun: set[int] = field(default_factory=set)
    raised: list[tuple[int, str]] = field(default_factory=list)

    def play(
        self,
        left: list[int],
        call: Callable[[ApiDriver, SettledCall], object],
        on_open: Callable[[], object] = lambda: None,
    ) -> None:
        """Make the calls with these numbers."""
        with saver_for(self.arguments) as (driver, _):
            calls, _ = settled(driver, self.arguments)
            while left:
                number = left[0]
                if number not in self.begun:
                    self.begun.add(number)
                    self.recorder.started(number)
                call(driver, calls[number])
                self.recorder.acknowledged(number)
                del left[0]
            on_open()

    def play_on(self, left: list[int], on_open: Callable[[], object]) -> None:
        """Make the calls with these numbers while a sync fails: a call that raises is repeated,
        first on the same saver and then on one that is opened anew.

        A caller may do so, and the program has the same result. If a saver still refuses, no more
        calls are made.
        """

        def insistently(driver: ApiDriver, call: SettledCall) -> None:
            for again in (True, False):
                try:
                    perform(driver, call)
                except Exception as error:
                    self.raised.append((left[0], describe(error)))
                    if not again:
                        raise
                else:
                    return

        for _ in range(_OPENINGS):
            with suppress(Exception):
                self.play(left, insistently, on_open)
            if not left:
                return


def _setting(connection: WatchedConnection) -> str:
    (synchronous,) = connection.values("PRAGMA synchronous")
    (journal,) = connection.values("PRAGMA journal_mode")
    level = _SYNCHRONOUS.get(synchronous, synchronous)
    return f"synchronous={level}, journal_mode={journal.upper()}"


def _holds(folder: str, name: str) -> bool:
    path = Path(folder, name)
    return not path.is_file() or path.stat().st_size > 0
