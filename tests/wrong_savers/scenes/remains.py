"""What a removal, or opening again, must leave: parts of the scenes of deletion and lifecycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.scenes.threads import everything

Removal = Callable[[str], Any]
"""Removes what the thread of this name has of the run of this name."""


def early_beside(p: Probe, remove: Removal) -> Any:
    """Writes that wait for their checkpoint, where others are removed: in that thread, and in
    another.
    """
    for thread in ("waits", "beside"):
        p.put(1, thread=thread, metadata={"run_id": thread})
        p.write(5, [("x", "early")], thread=thread)
    remove("waits")
    for thread in ("waits", "beside"):
        p.put(5, thread=thread)
    return [p.pending(thread, "", 5) for thread in ("waits", "beside")]


def selected_again(p: Probe, remove: Removal) -> Any:
    """An id that was removed, put again with other metadata, and selected by what it had."""
    p.put(1, thread="selected", metadata={"run_id": "selected", "note": "old"})
    remove("selected")
    p.put(1, thread="selected", metadata={"note": "new"})
    return [p.ids(p.config("selected"), filter={"note": note}) for note in ("old", "new")]


def much_is_stored(p: Probe) -> None:
    """Store what a log or a snapshot may lose, and then change much else."""
    p.put(1, thread="kept", metadata={"run_id": "kept"})
    p.write(1, [("x", None), ("y", 1), ("z", 2)], "t1", thread="kept")
    for task, path in (("t2", "~2"), ("t3", "~1")):
        p.write(1, [("__interrupt__", task), ("x", task)], task, path, thread="kept")
    p.put(2, thread="kept", parent=1)
    p.write(5, [("x", "early")], thread="kept")
    for number in range(1, 131):
        p.put(number, thread="busy")
    p.delete("busy")


def what_is_kept(p: Probe) -> Any:
    """What is there of it once the saver is opened again, and what becomes of it."""
    before = everything(p, "kept")
    p.write(1, [("x", "again"), ("y", "again")], "t2", thread="kept")
    p.put(5, thread="kept", parent=2)
    later = everything(p, "kept")
    removed = p.attempt(lambda: p.call("delete_for_runs", ["kept"]))
    return before, later, removed, p.ids(p.config("kept"))
