"""Power cuts: the disks that one recorded run may leave, computed without cutting any power.

A ``Recorder`` of ``saverproof_faults.io`` logs what SQLite wrote and synced, and the program's
marks; a ``CallRecorder`` of ``saverproof_faults.syscalls`` logs what any library did. From such a
log come the files that kill -9 would leave at each I/O (``kill_images``), and those of every legal
power cut (``PowerCuts``). ``disk`` describes the model.

    with Recorder(folder) as recorder:
        program(folder, recorder)         # calls recorder.started(n), recorder.acknowledged(n)
        recording = recorder.recording()
        assert not unexplained(recording, folder)
    cuts = PowerCuts(recording, seed=1, cap=2000)
    for number, image in enumerate(cuts):
        materialize(image, elsewhere / str(number))
        ...                               # open it: is image.acknowledged there?

``recorder.fail_sync(n)`` lets a sync of a run fail, one of ``sync_places`` of an earlier recording;
``failed_at`` is where it failed.

An image is legal, not likely: a loss that it shows is one that the settings allow.
"""

from saverproof_faults.power.cuts import ImageKind
from saverproof_faults.power.failed_syncs import SyncPlace, failed_at, sync_places
from saverproof_faults.power.images import (
    DiskImage,
    PowerCuts,
    kill_images,
    materialize,
    unexplained,
)
from saverproof_faults.power.missing import MissingSync, missing_syncs

__all__ = [
    "DiskImage",
    "ImageKind",
    "MissingSync",
    "PowerCuts",
    "SyncPlace",
    "failed_at",
    "kill_images",
    "materialize",
    "missing_syncs",
    "sync_places",
    "unexplained",
]
