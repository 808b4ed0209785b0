"""A recording of SQLite's I/O as JSON text, to be handed from one process to another."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Any

from saverproof_faults.io import IoCall, IoKind, Mark, MarkKind, Recording


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
