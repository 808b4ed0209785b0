"""Fills in scripts in which a read, a copy or a put is held while another caller changes what it
is about.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.contract_ids import DELETION, INSTANCES, TORN
from saverproof.families.concurrency.held.held_putting import Deleter
from saverproof.families.concurrency.held.held_reading import CHANGES, STOPPED
from saverproof.families.concurrency.held.holding import AWAIT, HoldPoint
from saverproof.families.concurrency.held.reading_again import CHANGES as OF_ONE_SAVER
from saverproof.programs.steps.codec import decode
from saverproof.programs.steps.identifiers import task_id
from saverproof.scripts.source import quoted

HELD_READ_IMPORTS = (
    "import linecache",
    "import os",
    "import select",
    "import signal",
    "import threading",
    "import types",
)
"""The imports that a script of a held read needs, beside those of every script."""
_PATIENCE_S = 2
"""Seconds for which a script holds a read. SQLite waits for a lock for five seconds by default, so
a change that the read blocks is still made.
"""
_NAMED = 2
"""How many parts of a path tell a file of the saver from other files of that name, such as
__init__.py.
"""


def held_read_words(scene: Mapping[str, Any], contract: str) -> dict[str, Any]:
    """Return the words of a script for its read, its change, and the place where the read is held.

    The script compares what the read shows, or what a later read shows. A place is given by the
    text of a line, and by its number among the lines with that text. So the place stays the same if
    the file is edited elsewhere.
    """
    made = {operation.kind for operation in CHANGES[scene["change"]]}
    return {
        "stale": contract == INSTANCES,
        "stops": scene["scene"] == STOPPED,
        "longest_s": scene.get("longest_s"),
        "copies": scene["read"] == OperationKind.COPY,
        "lists": scene["read"] in (OperationKind.LIST, OperationKind.COPY),
        "at": "AT" if scene["read"] == OperationKind.GET else "CONFIG",
        "deletes": OperationKind.DELETE in made,
        "puts": OperationKind.PUT in made,
        "task": task_id(1),
        **_place_words(scene),
    }


def read_again_words(scene: Mapping[str, Any], contract: str) -> dict[str, Any]:
    """Return the words of a script for the repeated read, the change, and the place where the read
    is held.
    """
    (made,) = OF_ONE_SAVER[scene["change"]]
    return {
        "lists": scene["read"] == OperationKind.LIST,
        "by_id": scene["read"] == OperationKind.GET,
        "torn": contract == TORN,
        "deletes": made.kind is OperationKind.DELETE,
        "deletes_run": made.kind is OperationKind.DELETE_RUN,
        "prunes": made.kind is OperationKind.PRUNE_ALL,
        "writes": made.kind is OperationKind.WRITES,
        "follows": bool(made.parent),
        "task": task_id(1),
        "other_task": task_id(2),
        **_place_words(scene),
    }


def held_put_words(scene: Mapping[str, Any], contract: str) -> dict[str, Any]:
    """Return the words of a script for who deletes the thread, the place where the put is held, and
    whether what was there before comes back.
    """
    return {
        "apart": scene["by"] == Deleter.PROCESS,
        "comes_back": contract == DELETION,
        **_place_words(scene),
    }


def _place_words(scene: Mapping[str, Any]) -> dict[str, Any]:
    place = decode(HoldPoint, scene["place"])
    texts = [one.strip() for one in linecache.getlines(place.file)]
    text = texts[place.line - 1] if place.file != AWAIT else ""
    return {
        "awaits": place.file == AWAIT,
        "file": quoted("/".join(Path(place.file).parts[-_NAMED:])),
        "text": quoted(text),
        "which": texts[: place.line - 1].count(text),
        "line": place.line,
        "time": place.time,
        "patience_s": _PATIENCE_S,
    }
