"""The syncs of a recorded run that can be made to fail in another run of the same program."""

from collections.abc import Iterator
from dataclasses import dataclass

from saverproof_faults.io import IoCall, IoKind, Mark, MarkKind, Recording

_JOURNAL = "-journal"
"""The end of the name of SQLite's rollback journal, after that of its database."""


@dataclass(frozen=True, slots=True)
class SyncPlace:
    """One sync of a file. ``number`` counts the syncs from 1, as ``fail_sync`` does.

    ``operation`` is the operation in which it happens, or None. ``ends_journal`` says that it makes
    the end of SQLite's rollback journal durable, which was truncated or had its header zeroed.
    """

    number: int
    file: str
    operation: int | None
    ends_journal: bool


def sync_places(recording: Recording) -> tuple[SyncPlace, ...]:
    """Return the syncs of a recording that ``fail_sync`` could let fail, in order."""
    return tuple(_places(recording))


def _places(recording: Recording) -> Iterator[SyncPlace]:
    number, operation = 0, None
    files = {*recording.initial}
    last: dict[str, IoCall] = {}
    for entry in recording.log:
        if isinstance(entry, Mark):
            operation = entry.operation if entry.kind is MarkKind.STARTED else None
        elif not isinstance(entry, IoCall):
            continue
        elif entry.kind is not IoKind.SYNC:
            files.add(entry.file)
            last[entry.file] = entry
        elif not entry.length:  # else it comes from a write-through, and is no call of its own
            number += 1
            database = entry.file.removesuffix(_JOURNAL)
            journal = database != entry.file and database in files
            ends = journal and _ends(last.get(entry.file))
            yield SyncPlace(number, entry.file, operation, ends)


def _ends(call: IoCall | None) -> bool:
    """Return whether a call on a rollback journal leaves it without a header."""
    if call is None or call.offset:
        return False
    return call.kind is IoKind.TRUNCATE or (call.kind is IoKind.WRITE and not any(call.contents))


def failed_at(recording: Recording) -> int:
    """Return the position right after the first sync that failed, or 0 if none did.

    Up to there, the recording is that of a run in which nothing fails.
    """
    return next(
        (
            position
            for position, entry in enumerate(recording.log, start=1)
            if isinstance(entry, IoCall) and entry.kind is IoKind.SYNC and not entry.done
        ),
        0,
    )
