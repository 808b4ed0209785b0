"""Turn system calls, each before it happens, into a recording that power cuts are made from."""

from dataclasses import dataclass, field

from saverproof_faults.io import Entry, IoCall, IoKind, Mark, NameCall, NameKind
from saverproof_faults.syscalls.calls import SystemCall
from saverproof_faults.syscalls.mapped import MappedFiles
from saverproof_faults.syscalls.numbers import CallKind


@dataclass(slots=True)
class CallLog:
    """The entries of a recording so far, as those of ``saverproof_faults.io``."""

    mapped: MappedFiles
    entries: list[Entry] = field(default_factory=list)
    _new_names: set[str] = field(default_factory=set)
    """Files whose names no sync has made durable yet."""

    def mark(self, mark: Mark) -> None:
        """Add a mark of the program's progress."""
        self.entries += self.mapped.changes()
        self.entries.append(mark)

    def until_now(self) -> list[Entry]:
        """Return all entries."""
        self.entries += self.mapped.changes()
        return self.entries

    def add(
        self, call: SystemCall, contents: bytes, *, written_through: bool, error: int = 0
    ) -> None:
        """Add a call that is about to happen, or that ends with ``error`` instead.

        ``contents`` are the bytes of a write. ``written_through`` says that the write reaches the
        disk before it returns.
        """
        self.entries += self.mapped.changes()
        if call.deleted:
            return
        if error:
            # Other calls that fail leave the disk as it was.
            if call.kind is CallKind.SYNC and not call.folder:
                self.entries.append(IoCall(IoKind.SYNC, call.file, result=error))
            return
        match call.kind:
            case CallKind.OPEN | CallKind.MAKE_FILE if call.creates:
                self._new_names.add(call.file)
                self.entries.append(IoCall(IoKind.OPEN, call.file, creates=True))
            case CallKind.OPEN if call.empties:
                self.entries.append(IoCall(IoKind.TRUNCATE, call.file))
            case CallKind.WRITE:
                length = len(contents)
                self.entries.append(IoCall(IoKind.WRITE, call.file, call.offset, length, contents))
                if written_through:
                    self.entries.append(IoCall(IoKind.SYNC, call.file, call.offset, length))
            case CallKind.TRUNCATE | CallKind.ALLOCATE:
                self.entries.append(IoCall(IoKind.TRUNCATE, call.file, call.size))
            case CallKind.SYNC:
                self._sync(call)
            case CallKind.SYNC_ALL:
                self.entries.append(NameCall(NameKind.SYNC_ALL, "."))
                self._new_names.clear()
            case CallKind.RENAME | CallKind.LINK:
                self._new_names.add(call.target)
                kind = NameKind.RENAME if call.kind is CallKind.RENAME else NameKind.LINK
                self.entries.append(NameCall(kind, call.file, call.target))
            case CallKind.DELETE if call.folder:
                self.entries.append(NameCall(NameKind.REMOVE_FOLDER, call.file))
            case CallKind.DELETE:
                self.entries.append(IoCall(IoKind.DELETE, call.file))
            case CallKind.FOLDER:
                self.entries.append(NameCall(NameKind.MAKE_FOLDER, call.file))

    def _sync(self, call: SystemCall) -> None:
        if call.folder:
            self.entries.append(NameCall(NameKind.SYNC_FOLDER, call.file))
            self._new_names.clear()
            return
        new = call.file in self._new_names
        self.entries.append(IoCall(IoKind.SYNC, call.file, syncs_folder=new))
        if new:
            self._new_names.clear()
