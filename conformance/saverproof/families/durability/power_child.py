"""What runs in the process whose I/O is recorded, and in those that open the images of its disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from saverproof.families.durability.child import saver_for, settled
from saverproof.savers.execution.settled_calls import perform
from saverproof_faults.io import Recorder, Recording
from saverproof_faults.io.data import recording_data
from saverproof_faults.kill import Acks
from saverproof_faults.kill.process import threads
from saverproof_faults.power import unexplained
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.watch import Watch
from saverproof_faults.syscalls import CallRecorder

Arguments = Mapping[str, Any]

_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def record(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Run the program, the saver closed and opened again in its middle, and write down all I/O.

    The recording goes to the file that the arguments name; given back are the settings of the
    connections, and the files that the recording does not explain.
    """
    folder = arguments["path"]
    settings: dict[str, None] = {}
    with Watch() as watch, Recorder(folder) as recorder:
        _run(
            arguments,
            recorder,
            lambda: settings.update(dict.fromkeys(map(_setting, watch.connections))),
        )
        recording = recorder.recording()
    # An empty file holds nothing that could be torn: a lock, say.
    strange = [name for name in unexplained(recording, folder) if _holds(folder, name)]
    _keep(recording, arguments)
    found = {"settings": [*settings], "unexplained": strange, "unseen": []}
    return found | {"unmodelled": ""}


def record_files(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """The same by the system calls on the store's files, whichever library makes them.

    Given back is also what can be written unseen, and what no disk can be made of. Raises
    RuntimeError in a process with threads, which cannot be covered.
    """
    if threads() > 1:
        raise RuntimeError("importing the saver leaves threads running, which cannot be recorded")
    folder = arguments["path"]
    with CallRecorder(folder) as recorder:
        _run(arguments, recorder, lambda: None)
        recording, unseen = recorder.recording(), recorder.report().unseen
    _keep(recording, arguments)
    strange: tuple[str, ...] = ()
    unmodelled = ""
    try:
        strange = unexplained(recording, folder)
    except ValueError as problem:
        unmodelled = str(problem)
    found = {"settings": [], "unexplained": [*strange], "unseen": [*unseen]}
    return found | {"unmodelled": unmodelled}


def _keep(recording: Recording, arguments: Arguments) -> None:
    text = json.dumps(recording_data(recording))
    Path(arguments["recording"]).write_text(text, encoding="utf-8")


def _run(
    arguments: Arguments, recorder: Recorder | CallRecorder, on_open: Callable[[], object]
) -> None:
    """Run both halves; ``on_open`` is called at the end of each, with the saver open."""
    total = len(arguments["program"])
    for part in (range(total // 2), range(total // 2, total)):
        with saver_for(arguments) as (driver, _):
            calls, _ = settled(driver, arguments)
            for number in part:
                recorder.started(number)
                perform(driver, calls[number])
                recorder.acknowledged(number)
            on_open()


def _setting(connection: WatchedConnection) -> str:
    (synchronous,) = connection.values("PRAGMA synchronous")
    (journal,) = connection.values("PRAGMA journal_mode")
    level = _SYNCHRONOUS.get(synchronous, synchronous)
    return f"synchronous={level}, journal_mode={journal.upper()}"


def _holds(folder: str, name: str) -> bool:
    path = Path(folder, name)
    return not path.is_file() or path.stat().st_size > 0
