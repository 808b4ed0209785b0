"""Choose which power cuts to try in one state of a disk."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from saverproof_faults.io import IoKind
from saverproof_faults.power.disk import Disk, sectors_of

EXHAUSTIVE = 4
"""With up to this many pending calls, every subset of them is tried: 16 cuts. More calls get a
sample.
"""
SINGLES = 4
"""How many of many pending calls are tried as lost alone and as kept alone, besides the last
one.
"""
SUBSETS = 3
"""How many random subsets are tried, if there are many pending calls or changes of names."""


class ImageKind(StrEnum):
    """Which of the calls that no sync had covered survived. ``ALL`` is what kill -9 leaves."""

    ALL = "all"
    NONE = "none"
    ALL_BUT_ONE = "all but one"
    ONLY_ONE = "only one"
    SUBSET = "subset"
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Cut:
    """A way in which the power may fail. ``Disk.image`` describes the fields."""

    kind: ImageKind
    changes: int
    kept: int
    torn: Mapping[int, Set[int]] = field(default_factory=dict)

    @property
    def loses_all(self) -> bool:
        """True if there were unsynced calls and none of them survives."""
        return self.kind is ImageKind.NONE and not self.changes

    def image(self, disk: Disk) -> dict[str, bytes]:
        """Return the files that the cut leaves."""
        return disk.image(self.changes, self.kept, self.torn)


def complete_cut(disk: Disk) -> Cut:
    """Return the cut that loses nothing."""
    return Cut(ImageKind.ALL, len(disk.changes), disk.everything)


def cuts(disk: Disk, choose: Random, *, newest: int | None) -> Iterator[Cut]:
    """Yield the cuts to try in this state of the disk, the complete one first.

    ``newest`` is the index of a pending call, if adding it is all that has happened since the cuts
    of the state before. Cuts that lose it were tried in that state, and are left out.
    """
    yield complete_cut(disk)
    for changes in _prefixes(len(disk.changes), choose):
        for kind, kept in _subsets(len(disk.pending), choose):
            if newest is not None and not kept >> newest & 1:
                continue
            if kept == disk.everything and changes == len(disk.changes):
                continue
            yield Cut(kind, changes, kept)
        yield from _tears(disk, changes, choose, newest)


def _prefixes(changes: int, choose: Random) -> list[int]:
    if changes <= EXHAUSTIVE:
        return list(range(changes + 1))
    return sorted({0, changes, *choose.sample(range(1, changes), SUBSETS)})


def _subsets(pending: int, choose: Random) -> Iterator[tuple[ImageKind, int]]:
    everything = (1 << pending) - 1
    yield ImageKind.NONE, 0
    if pending <= EXHAUSTIVE:
        for kept in range(1, everything + 1):
            yield ImageKind.SUBSET, kept
        return
    # The last calls matter most: if they survive earlier ones, a missing sync shows.
    for one in sorted({pending - 1, *choose.sample(range(pending), SINGLES)}):
        yield ImageKind.ALL_BUT_ONE, everything ^ (1 << one)
        yield ImageKind.ONLY_ONE, 1 << one
    yield ImageKind.SUBSET, everything
    for _ in range(SUBSETS):
        yield ImageKind.SUBSET, _some(pending, choose)
        yield ImageKind.SUBSET, (1 << choose.randrange(1, pending)) - 1


def _some(pending: int, choose: Random) -> int:
    """Return a random subset of about a quarter, half or three quarters of the pending calls."""
    one, other = choose.getrandbits(pending), choose.getrandbits(pending)
    return choose.choice((one & other, one, one | other))


def _tears(disk: Disk, changes: int, choose: Random, newest: int | None) -> Iterator[Cut]:
    candidates = range(len(disk.pending)) if newest is None else [newest]
    tearable = [
        index
        for index in candidates
        if disk.pending[index].call.kind is IoKind.WRITE
        and sectors_of(disk.pending[index].call) > 1
    ]
    if not tearable:
        return
    for others in (disk.everything, choose.getrandbits(len(disk.pending))):
        index = choose.choice(tearable)
        sectors = sectors_of(disk.pending[index].call)
        survived = choose.sample(range(sectors), choose.randrange(1, sectors))
        yield Cut(ImageKind.TORN, changes, others | 1 << index, {index: frozenset(survived)})
