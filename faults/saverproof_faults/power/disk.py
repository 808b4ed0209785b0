"""A disk between the calls of a recording: what is durable, and what may still be lost.

The model is POSIX's, and adversarial. A sync makes the earlier writes and truncations of its file
durable. Until then each of them may be kept or lost, independently of the others, and a write may
be torn at multiples of 512 bytes. New names, renames and deletions take effect in order, each at
once. SQLite makes them durable at the first sync of a journal or write-ahead log that it may have
created, and at a delete that asks for it. Other programs make them durable by a sync of a folder,
or of a file whose own name is new: that ends a transaction of the journal that ext4 and xfs keep. A
folder is durable as soon as it is made. Drives that lie about flushing, bit rot and faults of the
file system are not modelled.

A sync that fails drops the writes that it covers, as Linux does, which marks their pages clean:
each has reached the disk or never will, whatever is synced later. Only bytes that are written anew
count again: a clean page may leave the cache at any time, and is read from the disk then.
Truncations and names stand in the file system's own journal, and wait for the next sync.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from saverproof_faults.io import Entry, IoCall, IoKind, Mark, MarkKind, NameCall, NameKind

SECTOR = 512
"""Bytes that a disk writes as a whole."""
PAGE = 4096
"""Bytes of a page of the kernel's cache: a sync of a part of a file reaches whole pages."""


@dataclass(slots=True)
class _Inode:
    durable: bytearray


@dataclass(frozen=True, slots=True)
class FolderChange:
    """A change of names.

    ``inode`` is the file of a name that appeared, or None for a name that went away.

    A rename also takes away the name ``gone``.
    """

    name: str
    inode: _Inode | None
    gone: str = ""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A write or truncation that no sync has covered yet.

    If it is ``dropped``, a sync that covered it has failed, and no later sync will make it durable.
    """

    inode: _Inode
    call: IoCall
    dropped: bool = False


@dataclass(slots=True)
class Disk:
    """The state of a disk after some entries of a recording. ``advance`` adds the next entry."""

    names: dict[str, _Inode]
    durable_names: dict[str, _Inode]
    changes: list[FolderChange] = field(default_factory=list)
    pending: list[PendingCall] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)

    @classmethod
    def holding(cls, files: Mapping[str, bytes], folders: Iterable[str] = ()) -> "Disk":
        """Return a disk on which ``files`` and ``folders`` are durable."""
        inodes = {name: _Inode(bytearray(data)) for name, data in files.items()}
        return cls(dict(inodes), dict(inodes), folders=set(folders))

    def advance(self, entry: Entry) -> None:
        """Apply one entry of the recording to the disk.

        Raises:
            ValueError: the effect of the entry cannot be known.
        """
        if isinstance(entry, Mark):
            if entry.kind is MarkKind.SETTLED:
                self._flush_folder()
                self._flush(self.pending)
            return
        if isinstance(entry, NameCall):
            self._rename(entry)
            return
        if not entry.done:
            if entry.kind in (IoKind.WRITE, IoKind.TRUNCATE):
                raise ValueError(f"the {entry} failed: what it left on the disk is unknown")
            if entry.kind is IoKind.SYNC:
                self._drop(entry)
            return
        match entry.kind:
            case IoKind.OPEN:
                self._open(entry)
            case IoKind.DELETE:
                self._delete(entry)
            case IoKind.WRITE | IoKind.TRUNCATE:
                self.pending.append(PendingCall(self._inode(entry), entry))
            case IoKind.SYNC:
                self._flush(self._reached(entry))
                if entry.syncs_folder:
                    self._flush_folder()

    def image(
        self, changes: int, kept: int, torn: Mapping[int, Set[int]] | None = None
    ) -> dict[str, bytes]:
        """Return the files found after a power cut.

        The first ``changes`` changes of names survive, and the pending calls whose bit is set in
        ``kept`` (bit i for the i-th). ``torn`` names writes by their index; of such a write only
        the sectors listed there survive, counted within the write.
        """
        names = dict(self.durable_names)
        for change in self.changes[:changes]:
            _apply_change(names, change)
        contents = {id(inode): bytearray(inode.durable) for inode in names.values()}
        for index, one in enumerate(self.pending):
            if kept >> index & 1 and id(one.inode) in contents:
                sectors = torn.get(index) if torn else None
                _apply(contents[id(one.inode)], one.call, sectors)
        return {name: bytes(contents[id(inode)]) for name, inode in names.items()}

    @property
    def everything(self) -> int:
        """The value of ``kept`` for an image that keeps all pending calls."""
        return (1 << len(self.pending)) - 1

    def complete_image(self) -> dict[str, bytes]:
        """Return the files with nothing lost, as kill -9 leaves them."""
        return self.image(len(self.changes), self.everything)

    def _rename(self, call: NameCall) -> None:
        match call.kind:
            case NameKind.RENAME | NameKind.LINK:
                gone = call.file if call.kind is NameKind.RENAME else ""
                change = FolderChange(call.target, self._inode(call), gone)
                _apply_change(self.names, change)
                self.changes.append(change)
            case NameKind.MAKE_FOLDER:
                self.folders.add(call.file)
            case NameKind.REMOVE_FOLDER:
                self.folders.discard(call.file)
            case NameKind.SYNC_FOLDER:
                self._flush_folder()
            case NameKind.SYNC_ALL:
                self._flush_folder()
                self._flush(self.pending)

    def _open(self, call: IoCall) -> None:
        if not call.creates or call.file in self.names:
            return
        inode = _Inode(bytearray())
        self.names[call.file] = inode
        self.changes.append(FolderChange(call.file, inode))
        if call.contents:
            self.pending.append(PendingCall(inode, call))

    def _delete(self, call: IoCall) -> None:
        if call.file in self.names:
            del self.names[call.file]
            self.changes.append(FolderChange(call.file, None))
        if call.syncs_folder:
            self._flush_folder()

    def _inode(self, call: IoCall | NameCall) -> _Inode:
        if call.file not in self.names:
            raise ValueError(f"the recording has a {call}, but not how that file came to be")
        return self.names[call.file]

    def _reached(self, sync: IoCall) -> list[PendingCall]:
        inode = self._inode(sync)
        return [one for one in self.pending if one.inode is inode and _reaches(sync, one.call)]

    def _drop(self, sync: IoCall) -> None:
        """Let a sync fail. A truncation changes no page: the next sync makes it durable."""
        dropped = {id(p) for p in self._reached(sync) if p.call.kind is not IoKind.TRUNCATE}
        self.pending = [
            replace(one, dropped=True) if id(one) in dropped else one for one in self.pending
        ]

    def _flush(self, synced: list[PendingCall]) -> None:
        durable = {id(one) for one in synced if not one.dropped}
        left: list[PendingCall] = []
        for one in self.pending:
            if id(one) in durable:
                _apply(one.inode.durable, one.call, None)
                left = [older for other in left if (older := _beneath(other, one)) is not None]
            else:
                left.append(one)
        self.pending = left

    def _flush_folder(self) -> None:
        for change in self.changes:
            _apply_change(self.durable_names, change)
        self.changes.clear()


def _reaches(sync: IoCall, call: IoCall) -> bool:
    """Return whether a sync covers an earlier call: all of a file, or the pages of a part."""
    if not sync.length or call.kind is IoKind.TRUNCATE:
        return True
    first, last = sync.offset // PAGE, (sync.offset + sync.length - 1) // PAGE
    return call.offset // PAGE <= last and (call.offset + call.length - 1) // PAGE >= first


def _beneath(older: PendingCall, later: PendingCall) -> PendingCall | None:
    """Return the part of a pending call that may still change something once a later call is
    durable; None if there is none.

    Only a dropped call can be older than a call on the same bytes that is durable.
    """
    if not older.dropped or older.inode is not later.inode:
        return older
    call, over = older.call, later.call
    begin, end = call.offset, call.offset + call.length
    first, last = over.offset, end if over.kind is IoKind.TRUNCATE else over.offset + over.length
    if first >= end or last <= begin:
        return older
    if first <= begin:
        begin, data = last, call.contents[last - begin :]
    elif last >= end:
        data = call.contents[: first - begin]
    else:
        data = call.contents[: first - begin] + over.contents + call.contents[last - begin :]
    if not data:
        return None
    return replace(older, call=replace(call, offset=begin, length=len(data), contents=data))


def sectors_of(call: IoCall) -> int:
    """Return how many sectors a write touches."""
    if not call.length:
        return 0
    return (call.offset + call.length - 1) // SECTOR - call.offset // SECTOR + 1


def _apply_change(names: dict[str, _Inode], change: FolderChange) -> None:
    names.pop(change.gone, None)
    if change.inode is None:
        names.pop(change.name, None)
    else:
        names[change.name] = change.inode


def _apply(contents: bytearray, call: IoCall, sectors: Set[int] | None) -> None:
    if call.kind is IoKind.TRUNCATE:
        _resize(contents, call.offset)
        del contents[call.offset :]
    elif sectors is None:
        _put(contents, call.offset, call.contents)
    else:
        for sector in sorted(sectors):
            first = (call.offset // SECTOR + sector) * SECTOR
            start = max(first, call.offset)
            end = min(first + SECTOR, call.offset + call.length)
            _put(contents, start, call.contents[start - call.offset : end - call.offset])


def _put(contents: bytearray, offset: int, data: bytes) -> None:
    _resize(contents, offset)
    contents[offset : offset + len(data)] = data


def _resize(contents: bytearray, size: int) -> None:
    if len(contents) < size:
        contents.extend(bytes(size - len(contents)))
