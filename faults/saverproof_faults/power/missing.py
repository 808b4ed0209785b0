"""Find the syncs that a program leaves out when it says that an operation is done."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from saverproof_faults.io import Mark, MarkKind, Recording
from saverproof_faults.power.disk import Disk, FolderChange


@dataclass(frozen=True, slots=True)
class MissingSync:
    """Data that could still be lost when an operation had returned.

    It is bytes of ``file``. If ``change`` is given, it is the entry of the file's name in
    ``folder``, and ``change`` says what was done to the name. A folder is a path, "." for the top.
    ``dropped`` says that a sync was made and failed, so that another sync makes nothing durable.
    """

    file: str
    change: str = ""
    folder: str = ""
    dropped: bool = False

    def __str__(self) -> str:
        if self.dropped:
            return f"no new write of what {self.file!r} lost when its sync failed"
        if not self.change:
            return f"no sync of {self.file!r} after it was written"
        where = "the top folder" if self.folder == "." else f"the folder {self.folder!r}"
        return f"no sync of {where} after {self.change}"


def missing_syncs(recording: Recording) -> dict[int, tuple[MissingSync, ...]]:
    """Return, for each operation, the syncs that were missing when it was acknowledged.

    Operations that lack none are left out.
    """
    disk = Disk.holding(recording.initial, recording.folders)
    found: dict[int, tuple[MissingSync, ...]] = {}
    for entry in recording.log:
        disk.advance(entry)
        if isinstance(entry, Mark) and entry.kind is MarkKind.ACKNOWLEDGED:
            missing = tuple(dict.fromkeys(_missing_on(disk)))
            if missing:
                found[entry.operation] = missing
    return found


def _missing_on(disk: Disk) -> Iterator[MissingSync]:
    for name, inode in disk.names.items():
        ways = {pending.dropped for pending in disk.pending if pending.inode is inode}
        for dropped in sorted(ways, reverse=True):
            yield MissingSync(name, dropped=dropped)
    # An empty file, such as a lock, comes last: it seldom holds anything to lose.
    for change in sorted(disk.changes, key=lambda change: _is_empty(disk, change)):
        # A temporary file that is gone again matters to nobody.
        if change.inode is None or change.name in disk.names:
            yield MissingSync(change.name, _words(change), str(PurePosixPath(change.name).parent))


def _is_empty(disk: Disk, change: FolderChange) -> bool:
    written = any(pending.inode is change.inode for pending in disk.pending)
    return change.inode is not None and not (written or change.inode.durable)


def _words(change: FolderChange) -> str:
    if change.gone:
        return f"{change.gone!r} was renamed to {change.name!r}"
    return f"{change.name!r} was {'deleted' if change.inode is None else 'created'}"
