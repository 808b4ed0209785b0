"""What runs in the process whose I/O is recorded, and in those that open the images of its disk."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from saverproof.execution.settled_calls import perform
from saverproof.families.durability.child import saver_for, settled
from saverproof_faults.io import IoCall, IoKind, Mark, MarkKind, Recorder, Recording
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


# --- a recording as JSON text, to be handed from one process to another -------------------------


def to_text(recording: Recording) -> str:
    """The recording as JSON."""
    initial = {name: b64encode(data).decode() for name, data in recording.initial.items()}
    return json.dumps({"initial": initial, "log": [_entry(entry) for entry in recording.log]})


def from_text(text: str) -> Recording:
    """The recording that :func:`to_text` gave."""
    data = json.loads(text)
    initial = {name: b64decode(contents) for name, contents in data["initial"].items()}
    return Recording(initial, tuple(_read(entry) for entry in data["log"]))


def _entry(entry: IoCall | Mark) -> dict[str, Any]:
    if isinstance(entry, Mark):
        return {"mark": entry.kind.value, "operation": entry.operation}
    return {**asdict(entry), "contents": b64encode(entry.contents).decode()}


def _read(entry: dict[str, Any]) -> IoCall | Mark:
    if "mark" in entry:
        return Mark(MarkKind(entry["mark"]), entry["operation"])
    contents = b64decode(entry["contents"])
    return IoCall(**{**entry, "kind": IoKind(entry["kind"]), "contents": contents})
