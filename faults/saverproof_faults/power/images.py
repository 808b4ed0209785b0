"""The disk images that one recording may leave, and how to write one into a folder."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random

from saverproof_faults.io import (
    SHARED_MEMORY,
    Entry,
    IoCall,
    IoKind,
    Mark,
    MarkKind,
    Recording,
    files_below,
)
from saverproof_faults.power.cuts import Cut, ImageKind, complete_cut, cuts
from saverproof_faults.power.disk import Disk
from saverproof_faults.power.super_journals import moved


@dataclass(frozen=True, slots=True)
class DiskImage:
    """The files that are found when the power fails after ``position`` entries of the log.

    ``files`` maps relative names to bytes. ``started`` and ``acknowledged`` are the operations
    marked by then.
    """

    position: int
    started: tuple[int, ...]
    acknowledged: tuple[int, ...]
    kind: ImageKind
    files: Mapping[str, bytes]
    folders: tuple[str, ...] = ()


class PowerCuts:
    """The legal images of a recording, each once. Iterate over them any number of times.

    At each position of the log all subsets of a few unsynced calls are tried, and a sample of the
    subsets of many. If that makes more than ``cap`` cuts, a sample of ``cap`` is taken. Up to a
    quarter of the sample are cuts that lose everything unsynced just when an operation has
    returned; an eighth are cuts before the first operation. Both samples follow from ``seed``
    alone. Cuts before the position ``since`` of the log are left out. The sample then always has
    the first such cut right after an operation that loses something, since later work may write the
    lost data again.

    Raises:
        ValueError: the recording holds a call whose effect is unknown, such as a failed write.
    """

    def __init__(
        self, recording: Recording, *, seed: int = 0, cap: int = 2000, since: int = 0
    ) -> None:
        self._recording = recording
        planned = [cut for cut in _plan(recording, seed) if cut[0] >= since]
        self.enumerated = len(planned)
        """Number of cuts that could be tried, before the cap, and before duplicates are dropped."""
        if len(planned) > cap:
            planned = _sample(planned, recording, cap, seed, first=bool(since))
        self.planned = len(planned)
        """Number of cuts that are tried."""
        self._cuts: dict[int, list[Cut]] = {}
        for position, cut in planned:
            self._cuts.setdefault(position, []).append(cut)

    @property
    def capped(self) -> bool:
        """True if the cap left cuts out."""
        return self.planned < self.enumerated

    def __iter__(self) -> Iterator[DiskImage]:
        return _distinct(_images(self._recording, self._cuts))


def kill_images(recording: Recording) -> Iterator[DiskImage]:
    """Yield what kill -9 would leave at each position of the log, each image once."""
    everywhere = {position: [complete_cut(disk)] for position, disk, _ in _states(recording)}
    return _distinct(_images(recording, everywhere))


def materialize(image: DiskImage, folder: str | os.PathLike[str]) -> None:
    """Write the image's files into ``folder``. The folder is made if it is missing.

    Raises:
        FileExistsError: something is there already.
    """
    root = Path(folder)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(root.iterdir()):
        raise FileExistsError(f"a disk image needs an empty folder, but {root} is not")
    for folder in image.folders:
        (root / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, data in image.files.items():
        path = root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(moved(name, data, root))


def unexplained(recording: Recording, folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the names of files in ``folder`` that differ from what the recording says.

    A name in the result was written past the recorder: without SQLite, or through another copy of
    it. Images of such a recording show nothing. The shared memory of a database is not compared.
    """
    disk = Disk.holding(recording.initial, recording.folders)
    for entry in recording.log:
        disk.advance(entry)
    expected, found = disk.complete_image(), files_below(folder)
    shared = {f"{name}{SHARED_MEMORY}" for name in expected}
    return tuple(
        name
        for name in sorted({*expected, *found} - shared)
        if expected.get(name) != found.get(name)
    )


def _states(recording: Recording) -> Iterator[tuple[int, Disk, Entry | None]]:
    """Yield each position from which images are taken, with the disk and the last entry there.

    The disk is one object, which changes.
    """
    settled = (
        position
        for position, entry in enumerate(recording.log, start=1)
        if isinstance(entry, Mark) and entry.kind is MarkKind.SETTLED
    )
    first = max(settled, default=0)
    disk = Disk.holding(recording.initial, recording.folders)
    if first == 0:
        yield 0, disk, None
    for position, entry in enumerate(recording.log, start=1):
        disk.advance(entry)
        if position >= first:
            yield position, disk, entry


def _acknowledged_at(recording: Recording) -> frozenset[int]:
    """Return the positions right after an operation has returned."""
    return frozenset(
        position
        for position, entry in enumerate(recording.log, start=1)
        if isinstance(entry, Mark) and entry.kind is MarkKind.ACKNOWLEDGED
    )


def _first_started_at(recording: Recording) -> int:
    return next(
        (
            position
            for position, entry in enumerate(recording.log, start=1)
            if isinstance(entry, Mark) and entry.kind is MarkKind.STARTED
        ),
        0,
    )


def _sample(
    planned: list[tuple[int, Cut]], recording: Recording, most: int, seed: int, *, first: bool
) -> list[tuple[int, Cut]]:
    choose = Random(f"{seed} cap")
    acknowledged, begun = _acknowledged_at(recording), _first_started_at(recording)
    # Most of what a saver can get wrong is what it left unsynced when an operation had returned,
    # and chance would miss it. A saver that leaves nothing has no such cut.
    worst = [
        index
        for index, (position, cut) in enumerate(planned)
        if position in acknowledged and cut.loses_all
    ]
    chosen = set(choose.sample(worst, min(len(worst), most // 4)))
    chosen.update(worst[:1] if first else ())
    # Making a store may take many more calls than everything that is done to it then.
    making = [index for index, (position, _) in enumerate(planned) if position < begun]
    others = [i for i in range(len(making), len(planned)) if i not in chosen]
    few = max(most // 8, most - len(chosen) - len(others))
    chosen.update(choose.sample(making, min(len(making), few)))
    chosen.update(choose.sample(others, most - len(chosen)))
    return [planned[index] for index in sorted(chosen)]


def _plan(recording: Recording, seed: int) -> Iterator[tuple[int, Cut]]:
    for position, disk, entry in _states(recording):
        grew = isinstance(entry, IoCall) and entry.kind in (IoKind.WRITE, IoKind.TRUNCATE)
        newest = len(disk.pending) - 1 if grew else None
        for cut in cuts(disk, Random(f"{seed} {position}"), newest=newest):
            yield position, cut


def _images(recording: Recording, chosen: Mapping[int, list[Cut]]) -> Iterator[DiskImage]:
    marked: dict[MarkKind, list[int]] = {kind: [] for kind in MarkKind}
    past = 0
    for position, disk, _ in _states(recording):
        for entry in recording.log[past:position]:
            if isinstance(entry, Mark):
                marked[entry.kind].append(entry.operation)
        past = position
        for cut in chosen.get(position, ()):
            yield DiskImage(
                position,
                tuple(marked[MarkKind.STARTED]),
                tuple(marked[MarkKind.ACKNOWLEDGED]),
                cut.kind,
                cut.image(disk),
                tuple(sorted(disk.folders)),
            )


def _distinct(images: Iterator[DiskImage]) -> Iterator[DiskImage]:
    seen: set[bytes] = set()
    for image in images:
        digest = blake2b(digest_size=16)
        digest.update(repr((image.started, image.acknowledged)).encode())
        for name, data in sorted(image.files.items()):
            digest.update(f"\0{name}\0{len(data)}\0".encode())
            digest.update(data)
        if digest.digest() not in seen:
            seen.add(digest.digest())
            yield image
