"""The number of processes that each profile kills. Trials are counted, not timed."""

from __future__ import annotations

import sys
from dataclasses import dataclass

ALL_SYNCS = sys.maxsize
"""A number of syncs that no run reaches."""


@dataclass(frozen=True, slots=True)
class KillEffort:
    """The number of trials of each sort that are made through one API.

    ``swept`` trials are at places of the fixed programs, ``drawn`` at places of ``programs`` random
    ones of ``length`` steps, and ``instants`` at random instants. In ``recoveries`` trials the
    processes that open the store are killed as well. ``afresh`` of all these are looked at by a
    fresh interpreter. ``beside`` trials have a second process at work, and in ``servers`` trials
    the server is killed as well. ``images`` are the disks of power cuts, ``syncs`` the syncs that
    fail, one in each further run, and ``disks`` the disks of each such run. ``graphs`` are the
    kills of running graphs.
    """

    swept: int
    drawn: int
    programs: int
    instants: int
    beside: int
    afresh: int
    images: int
    graphs: int
    servers: int = 0
    recoveries: int = 0
    syncs: int = 0
    disks: int = 0
    length: int = 10


EFFORTS = {
    "quick": KillEffort(
        swept=24,
        drawn=0,
        programs=0,
        instants=3,
        beside=3,
        afresh=1,
        images=20,
        graphs=6,
        servers=4,
        recoveries=1,
        # The runs are few, so that each may take more disks than those of ``default``.
        syncs=3,
        disks=6,
    ),
    "default": KillEffort(
        swept=150,
        drawn=42,
        programs=3,
        instants=20,
        beside=15,
        afresh=1,
        images=90,
        graphs=30,
        servers=16,
        recoveries=6,
        # The fewest disks that show the wrong savers' flaw after each of 28 syncs: 2 disks miss it
        # after two of them.
        syncs=ALL_SYNCS,
        disks=4,
    ),
    "deep": KillEffort(
        swept=500,
        drawn=300,
        programs=12,
        instants=200,
        beside=80,
        afresh=12,
        images=800,
        graphs=160,
        servers=60,
        recoveries=40,
        # Our savers make 30 to 120 syncs: that is at least as many disks as ``images``.
        syncs=ALL_SYNCS,
        disks=30,
    ),
}

SLOW = KillEffort(swept=8, drawn=0, programs=0, instants=2, beside=1, afresh=0, images=10, graphs=2)
"""The trials where each process is a fresh interpreter, which starts slowly."""
