"""Watch what SQLite does to files below one folder: count it, fail it, record it."""

import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

from saverproof_faults.io import codes
from saverproof_faults.io.calls import IoCall, IoKind, Mark, MarkKind, Recording
from saverproof_faults.io.plan import IoFault, IoPlan
from saverproof_faults.io.shim import shim

SHARED_MEMORY = "-shm"
"""The end of the name of WAL's shared memory, which is left out of recordings: it bypasses the VFS,
and is made anew when a store is opened after a power cut.
"""


class IoWatch:
    """A context manager that sees what SQLite does to files below ``folder``.

    It sees each open, write, sync, truncate and delete.

    Connections must be opened while it is entered; earlier ones go unseen. Any thread may use them.
    An exception that an armed action raises makes its call fail with SQLITE_IOERR, and is raised
    again when the watch is left.

    Raises:
        Unavailable: I/O cannot be watched here (see ``available``); raised on entering.
        NotADirectoryError: ``folder`` is not a folder; raised on entering.
    """

    keeps_contents = False

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        # SQLite resolves symbolic links before it opens a file.
        resolved = os.path.realpath(folder)
        if not os.path.isdir(resolved):
            raise NotADirectoryError(f"I/O can be watched below a folder only, got {resolved}")
        self.root = os.path.join(resolved, "")
        self.counts: Counter[IoKind] = Counter()
        self.fired: list[IoCall] = []
        self._log: list[IoCall | Mark] = []
        self._plan: IoPlan | None = None
        self._since_armed = 0
        self._problems: list[BaseException] = []
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        shim().add(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        shim().remove(self)
        self.check()

    @property
    def calls(self) -> tuple[IoCall, ...]:
        """Every call so far, in order."""
        with self._lock:
            return tuple(entry for entry in self._log if isinstance(entry, IoCall))

    @property
    def total(self) -> int:
        """Number of calls seen."""
        return self.counts.total()

    def arm(self, plan: IoPlan) -> None:
        """Carry out ``plan`` instead of any earlier one. Its places are counted from now on."""
        with self._lock:
            self._plan, self._since_armed, self.fired = plan, 0, []

    def disarm(self) -> None:
        """Let all calls pass again; ``fired`` keeps the calls that were hit."""
        with self._lock:
            self._plan = None

    def check(self) -> None:
        """Raise the exception that an action raised within a call of SQLite, if there is one."""
        problems, self._problems = self._problems, []
        if len(problems) == 1:
            raise problems[0]
        if problems:
            raise BaseExceptionGroup("raised inside SQLite's I/O", problems)

    def report(self, problem: BaseException) -> None:
        """Keep an exception that was raised within a call of SQLite, for ``check``."""
        self._problems.append(problem)

    def perform(self, call: IoCall, really: Callable[[], int]) -> int:
        """Count the call, then fail it or let it happen. The shim calls this."""
        with self._lock:
            call = self._completed(call)
            code = self._decide(call)
            # A sync covers what was written before it began, so it is noted first; a write is noted
            # when it is done.
            slot = self._append(call) if call.kind is IoKind.SYNC else None
        if code == codes.OK:
            code = really()
        with self._lock:
            if slot is None:
                slot = self._append(call)
            if code != codes.OK:
                self._log[slot] = replace(call, result=code)
        return code

    def _decide(self, call: IoCall) -> int:
        self.counts[call.kind] += 1
        plan = self._plan
        if plan is None or plan.kind not in (None, call.kind):
            return codes.OK
        self._since_armed += 1
        if not plan.hits(call, self._since_armed):
            return codes.OK
        try:
            code = plan.strike(call)
        except BaseException as problem:  # noqa: BLE001 - raised again when the watch is left
            self.report(problem)
            code = codes.IOERR
        self.fired.append(replace(call, result=code))
        return code

    def _completed(self, call: IoCall) -> IoCall:
        return call

    def _append(self, entry: IoCall | Mark) -> int:
        self._log.append(entry)
        return len(self._log) - 1


class Recorder(IoWatch):
    """An ``IoWatch`` that also keeps the bytes, and the program's marks between the calls.

    The files that are in the folder on entering count as durable. A file that appears later without
    SQLite counts as created, with its contents, when SQLite first opens it.
    """

    keeps_contents = True

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self._initial: dict[str, bytes] = {}
        self._known: set[str] = set()

    def __enter__(self) -> Self:
        self._initial = files_below(self.root)
        self._known = set(self._initial)
        return super().__enter__()

    def started(self, operation: int) -> None:
        """Mark that an operation begins."""
        self._mark(Mark(MarkKind.STARTED, operation))

    def acknowledged(self, operation: int) -> None:
        """Mark that an operation has returned."""
        self._mark(Mark(MarkKind.ACKNOWLEDGED, operation))

    def settled(self) -> None:
        """Mark that everything so far has reached the disk."""
        self._mark(Mark(MarkKind.SETTLED))

    def fail_sync(self, place: int) -> None:
        """Fail the ``place``-th sync from now on, counted from 1, with SQLITE_IOERR_FSYNC."""
        self.arm(IoFault(place, kind=IoKind.SYNC))

    def recording(self) -> Recording:
        """Return what was recorded until now."""
        with self._lock:
            return Recording(dict(self._initial), tuple(self._log))

    def _completed(self, call: IoCall) -> IoCall:
        """Return ``call``, or the creation of its file if that was made without SQLite."""
        if call.kind is not IoKind.OPEN or call.file in self._known:
            return call
        self._known.add(call.file)
        if call.creates:
            return call
        contents = Path(self.root, call.file).read_bytes()
        return replace(call, creates=True, contents=contents, length=len(contents))

    def _mark(self, mark: Mark) -> None:
        with self._lock:
            self._append(mark)


def files_below(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the files below ``folder`` by their relative names, without SQLite's shared memory."""
    root = Path(folder)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(SHARED_MEMORY)
    }
