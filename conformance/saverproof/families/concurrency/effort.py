"""The number of scenes that each profile plays. Scenes are counted, not timed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SceneEffort:
    """The number of scenes that are played through one API.

    ``shared`` histories have threads or tasks on one saver, ``instances`` several savers on one
    store, ``processes`` several processes. ``races`` are races of processes for a new store. Each
    history has ``callers`` callers that make ``length`` calls. In one scene a process holds the
    lock of the store for ``hold_s`` seconds. ``overtaken`` says whether a worker is stopped while
    another one finishes its thread. In ``upkeep`` histories a thread or task calls operations on
    whole threads, in ``upkeep_apart`` histories a process.

    A prune beside graphs is held at up to ``places`` places, a prune by another process at up to
    ``places_apart``. A read is held at up to ``reads`` places, and between any two places whose
    outcomes differ. Two places are enough if the outcome changes once; more are for reads that ask
    again. The process of a read is stopped for up to ``stopped_s`` seconds, so that a lock that
    expires does so; with 0 it is never stopped.
    """

    shared: int
    instances: int
    processes: int
    races: int
    callers: int = 4
    length: int = 10
    hold_s: float = 0.3
    overtaken: bool = False
    upkeep: int = 0
    upkeep_apart: int = 0
    places: int = 0
    places_apart: int = 0
    reads: int = 0
    stopped_s: float = 0.0


EFFORTS = {
    "quick": SceneEffort(
        shared=8,
        instances=2,
        processes=2,
        races=2,
        overtaken=True,
        upkeep=3,
        upkeep_apart=1,
        places=6,
        places_apart=3,
        reads=12,
    ),
    "default": SceneEffort(
        shared=10,
        instances=4,
        processes=3,
        races=2,
        overtaken=True,
        upkeep=4,
        upkeep_apart=1,
        places=6,
        places_apart=3,
        reads=12,
        stopped_s=6.0,
    ),
    "deep": SceneEffort(
        shared=120,
        instances=60,
        processes=40,
        races=20,
        length=14,
        hold_s=6.0,
        overtaken=True,
        upkeep=40,
        upkeep_apart=20,
        places=40,
        places_apart=20,
        reads=100,
        stopped_s=12.0,
    ),
}

SLOW_CALL_MS = 20.0
"""Milliseconds of a call from which a saver counts as slow: its histories are played one at a time,
so that none is cut off.
"""

SLOW = SceneEffort(shared=3, instances=2, processes=1, races=2, upkeep=1, places=6, reads=4)
"""The scenes where each process is a fresh interpreter, which starts slowly."""
