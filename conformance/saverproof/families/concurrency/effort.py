"""How many scenes each profile plays. Scenes are counted, time is not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SceneEffort:
    """Through one API: histories of ``shared`` by threads or tasks on one saver, ``instances`` by
    several savers on one store, ``processes`` by several processes; ``races`` of processes for a
    new store. Each history has ``callers`` callers that make ``length`` calls. A process holds the
    lock of the store for ``hold_s`` seconds. ``overtaken`` says whether one is stopped while
    another finishes its thread. ``upkeep`` are histories by threads or tasks in which someone
    tidies up, ``upkeep_apart`` those by processes. A prune beside graphs is held at up to
    ``places`` of its places, one by another process at up to ``places_apart``; a read at up to
    ``reads`` places, and between any two of them that come out otherwise: where that changes once,
    two would do; the others are for reads that ask again.
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
    ),
}

SLOW_CALL_MS = 20.0
"""A saver whose calls take longer has one history played at a time, so that none is cut off."""

SLOW = SceneEffort(shared=3, instances=2, processes=1, races=2, upkeep=1, places=6, reads=4)
"""Where each process is a fresh interpreter."""
