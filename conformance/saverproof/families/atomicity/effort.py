"""The number of faults that each profile injects. Places are left out by count, never by time."""

from __future__ import annotations

from dataclasses import dataclass

SLOW_TO_OPEN_MS = 100.0
"""The time to open a saver, in milliseconds, from which it counts as slow: each trial opens it
several times.
"""


@dataclass(frozen=True, slots=True)
class FaultEffort:
    """The number of faults of each sort that are injected.

    ``most`` are the faults in all, ``slow_most`` those of a saver that is slow to open. ``rare``
    adds the starting states of ``scenarios.RARE``. ``lasting`` adds faults that go on from their
    place, and other exceptions. ``random_programs`` programs of ``length`` steps have faults among
    their steps. ``silences`` is how often a server stops answering: a saver without a timeout is
    waited for each time. ``deaths`` is how often the server is killed and starts again.
    ``standstills`` is how often it stops and goes on, which takes as long as the saver waits, or as
    long as a call is watched. ``refusals`` are writes that fail for all who use the server.
    ``failovers`` are deaths after which another server has the address. ``meetings`` are calls that
    fail while another caller's call is under way. ``reads`` are the failures of each read on each
    store. ``locks`` adds a file that stays locked, which takes as long as the saver waits.
    """

    most: int
    slow_most: int
    silences: int = 0
    deaths: int = 0
    standstills: int = 0
    refusals: int = 0
    failovers: int = 0
    # Four of each of the four sorts in which threads meet.
    meetings: int = 16
    # Eight of each read show every wrong saver that there is.
    reads: int = 8
    locks: bool = False
    rare: bool = False
    lasting: bool = False
    random_programs: int = 0
    length: int = 24


EFFORTS = {
    "quick": FaultEffort(most=150, slow_most=40, deaths=4, standstills=1, refusals=20),
    "default": FaultEffort(
        most=2_000,
        slow_most=300,
        silences=1,
        deaths=12,
        standstills=3,
        refusals=100,
        failovers=2,
        meetings=40,
        reads=60,
        locks=True,
    ),
    "deep": FaultEffort(
        most=100_000,
        slow_most=3_000,
        silences=4,
        deaths=60,
        standstills=12,
        refusals=1_000,
        failovers=12,
        meetings=200,
        reads=1_000,
        locks=True,
        rare=True,
        lasting=True,
        random_programs=150,
    ),
}
