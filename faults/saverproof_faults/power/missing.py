"""Which syncs a program leaves out, seen at the moments when it says that an operation is done."""

from saverproof_faults.io import Mark, MarkKind, Recording
from saverproof_faults.power.disk import Disk


def missing_syncs(recording: Recording) -> tuple[str, ...]:
    """What could still be lost whenever an operation had returned, each in a few words."""
    disk = Disk.holding(recording.initial, recording.folders)
    found: dict[str, None] = {}
    for entry in recording.log:
        disk.advance(entry)
        if not isinstance(entry, Mark) or entry.kind is not MarkKind.ACKNOWLEDGED:
            continue
        for change in disk.changes:
            did = "renamed" if change.gone else "deleted" if change.inode is None else "created"
            found[f"no sync of the folder after {change.name!r} was {did}"] = None
        for name, inode in disk.names.items():
            if any(pending.inode is inode for pending in disk.pending):
                found[f"no sync of {name!r} after it was written"] = None
    return tuple(found)
