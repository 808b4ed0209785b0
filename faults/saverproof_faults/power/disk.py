"""A disk between the calls of a recording: what is durable, and what may yet be lost.

The model is POSIX's and adversarial. A sync makes the earlier writes and truncations of that file
durable; until then each may be kept or lost independently of the others, and a write may be torn
at multiples of 512 bytes. New names, renames and deletions take effect in order, each at once. By
SQLite they are made durable at the first sync of a journal or write-ahead log that it may have
created, and at a delete that asks for it; by others with a sync of a folder, or of a file whose own
name is new, which ends a transaction of the journal that ext4 and xfs keep. A folder is durable as
soon as it is made. A drive that lies about flushing, bit rot and faults of the file system are not
modelled.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from saverproof_faults.io import Entry, IoCall, IoKind, Mark, MarkKind, NameCall, NameKind

SECTOR = 512
"""What a disk writes whole, in bytes."""
PAGE = 4096
"""What the kernel keeps together, in bytes: of two writes to a page the later one stays."""


@dataclass(slots=True)
class _Inode:
    durable: bytearray


@dataclass(frozen=True, slots=True)
class FolderChange:
    """A name that appeared (``inode`` is its file), or went away (None); a rename takes the name
    ``gone`` away at the same time.
    """

    name: str
    inode: _Inode | None
    gone: str = ""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A write or truncation that no sync has covered yet."""

    inode: _Inode
    call: IoCall


@dataclass(slots=True)
class Disk:
    """The state after some entries of a recording; ``advance`` it by the next one."""

    names: dict[str, _Inode]
    durable_names: dict[str, _Inode]
    changes: list[FolderChange] = field(default_factory=list)
    pending: list[PendingCall] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)

    @classmethod
    def holding(cls, files: Mapping[str, bytes], folders: Iterable[str] = ()) -> "Disk":
        """A disk on which ``files`` and ``folders`` are durable."""
        inodes = {name: _Inode(bytearray(data)) for name, data in files.items()}
        return cls(dict(inodes), dict(inodes), folders=set(folders))

    def advance(self, entry: Entry) -> None:
        """Let one entry happen. Raises ValueError for one whose effect cannot be known."""
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
            return
        match entry.kind:
            case IoKind.OPEN:
                self._open(entry)
            case IoKind.DELETE:
                self._delete(entry)
            case IoKind.WRITE | IoKind.TRUNCATE:
                self.pending.append(PendingCall(self._inode(entry), entry))
            case IoKind.SYNC:
                inode = self._inode(entry)
                self._flush([p for p in self.pending if p.inode is inode and _reaches(entry, p)])
                if entry.syncs_folder:
                    self._flush_folder()

    def image(
        self, changes: int, kept: int, torn: Mapping[int, Set[int]] | None = None
    ) -> dict[str, bytes]:
        """The files found after a power cut.

        The first ``changes`` changes of names survive, and the pending calls whose bit is set in
        ``kept`` (bit i for the i-th); of a write in ``torn``, by its index, only the sectors listed
        there, counted within the write.
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
        """The ``kept`` of an image that keeps all pending calls."""
        return (1 << len(self.pending)) - 1

    def complete_image(self) -> dict[str, bytes]:
        """The files with nothing lost: what the operating system shows, and kill -9 leaves."""
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

    def _flush(self, synced: list[PendingCall]) -> None:
        for one in synced:
            _apply(one.inode.durable, one.call, None)
        gone = {id(one) for one in synced}
        self.pending = [one for one in self.pending if id(one) not in gone]

    def _flush_folder(self) -> None:
        for change in self.changes:
            _apply_change(self.durable_names, change)
        self.changes.clear()


def _reaches(sync: IoCall, pending: PendingCall) -> bool:
    """Whether a sync covers a pending call: all of a file, or what lies on the pages of a part."""
    call = pending.call
    if not sync.length or call.kind is IoKind.TRUNCATE:
        return True
    first, last = sync.offset // PAGE, (sync.offset + sync.length - 1) // PAGE
    return call.offset // PAGE <= last and (call.offset + call.length - 1) // PAGE >= first


def sectors_of(call: IoCall) -> int:
    """How many sectors a write touches."""
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
