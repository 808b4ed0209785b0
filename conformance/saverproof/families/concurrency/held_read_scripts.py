"""What a script can say of a read that is held while another process changes what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.held_reading import CHANGES
from saverproof.families.concurrency.holding import AWAIT, Place
from saverproof.families.concurrency.records import CallKind
from saverproof.programs.steps.codec import decode
from saverproof.programs.steps.identifiers import task_id

HELD_READ_IMPORTS = ("import types",)
"""What the script needs besides what all do."""
_NAMED = 2
"""Parts of a path that tell a file of the saver from others of its name, such as __init__.py."""


def held_read_words(scene: Mapping[str, Any]) -> dict[str, Any]:
    """The read, the change, and the place."""
    place = decode(Place, scene["place"])
    made = {operation.kind for operation in CHANGES[scene["change"]]}
    return {
        "lists": scene["read"] == CallKind.LIST,
        "at": "AT" if scene["read"] == CallKind.GET else "CONFIG",
        "deletes": CallKind.DELETE in made,
        "puts": CallKind.PUT in made,
        "task": task_id(1),
        "awaits": place.file == AWAIT,
        "file": "/".join(Path(place.file).parts[-_NAMED:]),
        "line": place.line,
        "time": place.time,
    }
