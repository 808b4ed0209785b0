"""Convert recordings to plain data for JSON, and back."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from saverproof_faults.io.calls import (
    Entry,
    IoCall,
    IoKind,
    Mark,
    MarkKind,
    NameCall,
    NameKind,
    Recording,
)


def recording_data(recording: Recording) -> dict[str, Any]:
    """Convert a recording to plain data."""
    initial = {name: b64encode(data).decode() for name, data in recording.initial.items()}
    log = [entry_data(entry) for entry in recording.log]
    return {"initial": initial, "log": log, "folders": list(recording.folders)}


def recording_from(data: Mapping[str, Any]) -> Recording:
    """Make a recording from the result of ``recording_data``."""
    initial = {name: b64decode(contents) for name, contents in data["initial"].items()}
    log = tuple(entry_from(entry) for entry in data["log"])
    return Recording(initial, log, tuple(data["folders"]))


def entry_data(entry: Entry) -> dict[str, Any]:
    """Convert one entry to plain data."""
    if isinstance(entry, Mark):
        return {"mark": entry.kind.value, "operation": entry.operation}
    if isinstance(entry, NameCall):
        return {"names": entry.kind.value, "file": entry.file, "target": entry.target}
    return {**asdict(entry), "contents": b64encode(entry.contents).decode()}


def entry_from(data: Mapping[str, Any]) -> Entry:
    """Make an entry from the result of ``entry_data``."""
    if "mark" in data:
        return Mark(MarkKind(data["mark"]), data["operation"])
    if "names" in data:
        return NameCall(NameKind(data["names"]), data["file"], data["target"])
    contents = b64decode(data["contents"])
    return IoCall(**{**data, "kind": IoKind(data["kind"]), "contents": contents})
