"""Fails a saver on plain files at each system call of a batch, and looks at what is left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from saverproof_faults.syscalls import CallFailure, CallFault, CallKind, CallWatch
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening

FAILURES = (
    (CallFailure.IO_ERROR, None),
    (CallFailure.DISK_FULL, None),
    # Nothing but a write can be cut short, and a place at which nothing fires ends the search.
    (CallFailure.SHORT_WRITE, CallKind.WRITE),
)


def left_by_failures(saver: Any, folder: Path) -> set[tuple[int, int]]:
    """How many of three writes are seen by the saver itself and by another, after each failure that
    was raised and each write that was cut short; -1 where reading raises, or opening once more.
    """
    folder.mkdir()
    with CallWatch(folder) as watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        return thread.submit(_failed_everywhere, watch, saver, folder).result()


def _failed_everywhere(watch: CallWatch, saver: Any, folder: Path) -> set[tuple[int, int]]:
    found = _failed_openings(watch, saver, folder)
    for failure, kind in FAILURES:
        place, fired = 0, True
        while fired:
            place += 1
            path = folder / f"{failure.name}-{place}"
            probe = Probe(opening(saver), path, "sync")
            probe.put(1, values={"x": 1})
            with watch.failing(CallFault(place, failure, kind=kind)):
                answer = probe.write(1, [("x", 1), ("y", 2), ("z", 3)])
            fired = bool(watch.fired)
            if answer is not None or failure is CallFailure.SHORT_WRITE:
                other = Probe(opening(saver), path, "sync")
                found.add((_writes(probe), _writes(other)))
                other.saver.close()
            probe.saver.close()
    return found


def _failed_openings(watch: CallWatch, saver: Any, folder: Path) -> set[tuple[int, int]]:
    place, fired = 0, True
    while fired:
        place += 1
        path = folder / f"opening-{place}"
        with watch.failing(CallFault(place)), suppress(OSError):
            opening(saver)(path).close()
        fired = bool(watch.fired)
        try:
            opening(saver)(path).close()
        except ValueError:
            return {(-1, -1)}
    return set()


def _writes(probe: Probe) -> int:
    try:
        found = probe.saver.get_tuple({"configurable": {"thread_id": "a", "checkpoint_ns": ""}})
    except ValueError:
        return -1
    return len(found.pending_writes)
