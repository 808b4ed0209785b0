"""How many faults each profile injects. Places are thinned by count, never by time."""

from __future__ import annotations

from dataclasses import dataclass

SLOW_TO_OPEN_MS = 100.0
"""A saver that needs longer, which several openings in each trial would make a long run."""


@dataclass(frozen=True, slots=True)
class FaultEffort:
    """``most`` faults are injected in all, ``slow_most`` into a saver that is slow to open.

    ``rare`` adds the starting states of ``scenarios.RARE``; ``lasting`` the faults that go on from
    their place, and other exceptions; ``random_programs`` is how many programs
    have faults among their steps, of ``length`` steps each. ``silences`` is how often a server
    stops answering: whoever sets no limit to that is waited for each time. ``deaths`` is how often
    it is killed, and starts again, ``standstills`` how often it stops and goes on: that takes as
    long as the saver is willing to wait, or a call is watched. ``refusals`` are writes that fail
    for all who use the server; ``failovers`` are deaths after which another one has its address.
    ``meetings`` are calls that fail while another caller's are under way, ``reads`` those that fail
    of each read on each store.
    """

    most: int
    slow_most: int
    silences: int = 0
    deaths: int = 0
    standstills: int = 0
    refusals: int = 0
    failovers: int = 0
    meetings: int = 8
    # Eight of each read show every wrong saver that there is.
    reads: int = 8
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
        meetings=24,
        reads=60,
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
        rare=True,
        lasting=True,
        random_programs=150,
    ),
}
