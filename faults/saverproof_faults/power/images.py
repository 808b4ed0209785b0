"""The disk images that one recording may leave, and how to put one into a folder."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random

from saverproof_faults.io import Entry, IoCall, IoKind, Mark, MarkKind, Recording, files_below
from saverproof_faults.power.cuts import Cut, ImageKind, complete_cut, cuts
from saverproof_faults.power.disk import Disk
from saverproof_faults.power.super_journals import moved


@dataclass(frozen=True, slots=True)
class DiskImage:
    """The files (relative name to bytes) found when the power fails after ``position`` entries of
    the log, and the operations started and acknowledged until then."""

    position: int
    started: tuple[int, ...]
    acknowledged: tuple[int, ...]
    kind: ImageKind
    files: Mapping[str, bytes]
    folders: tuple[str, ...] = ()


class PowerCuts:
    """The legal images of a recording, each once.

    All subsets of few unsynced calls are tried at each position of the log, and a sample of many.
    Where that makes more than ``cap`` cuts, a sample of ``cap`` is taken, of which up to a quarter
    loses all that was unsynced when an operation had returned, and an eighth comes before the first
    one; both samples follow ``seed`` alone.
    Iterate for the images, any number of times. Raises ValueError if the recording holds a call
    whose effect is unknown, such as a failed write.
    """

    def __init__(self, recording: Recording, *, seed: int = 0, cap: int = 2000) -> None:
        self._recording = recording
        planned = list(_plan(recording, seed))
        self.enumerated = len(planned)
        """How many cuts there are to try, before the cap and before duplicates are dropped."""
        if len(planned) > cap:
            planned = _sample(planned, recording, cap, seed)
        self.planned = len(planned)
        """How many of them are tried."""
        self._cuts: dict[int, list[Cut]] = {}
        for position, cut in planned:
            self._cuts.setdefault(position, []).append(cut)

    @property
    def capped(self) -> bool:
        """Whether the cap left cuts out."""
        return self.planned < self.enumerated

    def __iter__(self) -> Iterator[DiskImage]:
        return _distinct(_images(self._recording, self._cuts))


def kill_images(recording: Recording) -> Iterator[DiskImage]:
    """What kill -9 would leave at each position of the log, each once."""
    everywhere = {position: [complete_cut(disk)] for position, disk, _ in _states(recording)}
    return _distinct(_images(recording, everywhere))


def materialize(image: DiskImage, folder: str | os.PathLike[str]) -> None:
    """Write the image's files into ``folder``, made if need be.

    Raises FileExistsError if something is there already.
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
    """The names of the files in ``folder`` that are not what the recording says they should be.

    Not empty if something was written past the recorder: by other means than SQLite, or through
    another copy of it. Images of such a recording show nothing.
    """
    disk = Disk.holding(recording.initial, recording.folders)
    for entry in recording.log:
        disk.advance(entry)
    expected, found = disk.complete_image(), files_below(folder)
    return tuple(
        name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)
    )


def _states(recording: Recording) -> Iterator[tuple[int, Disk, Entry | None]]:
    """The disk (one object, changing) at each position from which images are taken, with the
    entry that has just happened."""
    first = max(
        (
            position
            for position, entry in enumerate(recording.log, start=1)
            if isinstance(entry, Mark) and entry.kind is MarkKind.SETTLED
        ),
        default=0,
    )
    disk = Disk.holding(recording.initial, recording.folders)
    if first == 0:
        yield 0, disk, None
    for position, entry in enumerate(recording.log, start=1):
        disk.advance(entry)
        if position >= first:
            yield position, disk, entry


def _acknowledged_at(recording: Recording) -> frozenset[int]:
    """The positions right after an operation has returned."""
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
    planned: list[tuple[int, Cut]], recording: Recording, most: int, seed: int
) -> list[tuple[int, Cut]]:
    choose = Random(f"{seed} cap")
    acknowledged, begun = _acknowledged_at(recording), _first_started_at(recording)
    # What an operation that has returned left unsynced is most of what a saver can get wrong, and
    # would be missed by chance; a saver that leaves nothing has no such cut.
    worst = [
        index
        for index, (position, cut) in enumerate(planned)
        if position in acknowledged and cut.loses_all
    ]
    chosen = set(choose.sample(worst, min(len(worst), most // 4)))
    # Making a store may take many more calls than all that is done to it then.
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
