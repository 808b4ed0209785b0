"""What runs in the process whose I/O is recorded, and in those that open the images of its disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.execution.settled_calls import perform
from saverproof.families.durability.child import saver_for, settled
from saverproof.families.durability.recordings import to_text
from saverproof_faults.io import Recorder
from saverproof_faults.kill import Acks
from saverproof_faults.power import unexplained
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.watch import Watch

Arguments = Mapping[str, Any]

_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def record(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Run the program, the saver closed and opened again in its middle, and write down all I/O.

    The recording goes to the file that the arguments name; given back are the settings of the
    connections, and the files that the recording does not explain.
    """
    folder = arguments["path"]
    with Watch() as watch, Recorder(folder) as recorder:
        settings = _run(arguments, recorder, watch)
        recording = recorder.recording()
    # An empty file holds nothing that could be torn: a lock, say.
    strange = [name for name in unexplained(recording, folder) if _holds(folder, name)]
    Path(arguments["recording"]).write_text(to_text(recording), encoding="utf-8")
    return {"settings": settings, "unexplained": strange}


def _run(arguments: Arguments, recorder: Recorder, watch: Watch) -> list[str]:
    settings: dict[str, None] = {}
    total = len(arguments["program"])
    for part in (range(total // 2), range(total // 2, total)):
        with saver_for(arguments) as (driver, _):
            if part.start == 0:
                recorder.settled()
            calls, _ = settled(driver, arguments)
            for number in part:
                recorder.started(number)
                perform(driver, calls[number])
                recorder.acknowledged(number)
            settings |= dict.fromkeys(map(_setting, watch.connections))
    return list(settings)


def _setting(connection: WatchedConnection) -> str:
    (synchronous,) = connection.values("PRAGMA synchronous")
    (journal,) = connection.values("PRAGMA journal_mode")
    level = _SYNCHRONOUS.get(synchronous, synchronous)
    return f"synchronous={level}, journal_mode={journal.upper()}"


def _holds(folder: str, name: str) -> bool:
    path = Path(folder, name)
    return not path.is_file() or path.stat().st_size > 0
