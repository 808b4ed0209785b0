"""Watching what SQLite does below one folder: counting it, failing it, recording it."""

import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

from saverproof_faults.io import codes
from saverproof_faults.io.calls import IoCall, IoKind, Mark, MarkKind, Recording
from saverproof_faults.io.plan import IoPlan
from saverproof_faults.io.shim import shim

_NOT_RECORDED = "-shm"
"""WAL's shared memory does not pass through the VFS's files, and is rebuilt on recovery."""


class IoWatch:
    """While entered, sees every write, sync, truncate, delete and open of SQLite below ``folder``.

    Connections must be opened inside; those opened before go unseen. Any thread may use them.
    An exception raised by an armed action makes that call fail with SQLITE_IOERR, and is raised
    again when the watch is left. Entering raises Unavailable where ``available()`` gives a
    reason, and NotADirectoryError where ``folder`` is none.
    """

    keeps_contents = False

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        # SQLite resolves symbolic links before it opens.
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
        """How many calls were seen."""
        return self.counts.total()

    def arm(self, plan: IoPlan) -> None:
        """Follow ``plan``, counting places from now, instead of any earlier one."""
        with self._lock:
            self._plan, self._since_armed, self.fired = plan, 0, []

    def disarm(self) -> None:
        """Let everything pass again; ``fired`` keeps the calls that were hit."""
        with self._lock:
            self._plan = None

    def check(self) -> None:
        """Raise what an action raised inside SQLite's call, if any did."""
        problems, self._problems = self._problems, []
        if len(problems) == 1:
            raise problems[0]
        if problems:
            raise BaseExceptionGroup("raised inside SQLite's I/O", problems)

    def report(self, problem: BaseException) -> None:
        """Keep what was raised inside SQLite's call for ``check``."""
        self._problems.append(problem)

    def perform(self, call: IoCall, really: Callable[[], int]) -> int:
        """Count the call, then fail it or let it happen; the shim calls this."""
        with self._lock:
            call = self._completed(call)
            code = self._decide(call)
            # A sync covers what was written before it began, a write is there when it is over.
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
    """An ``IoWatch`` that keeps the bytes too, and the program's marks between them.

    The folder's files as they are on entering count as durable. A file that appears later by
    other means than SQLite's counts as created, with what it holds, when SQLite first opens it.
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

    def recording(self) -> Recording:
        """What was recorded until now."""
        with self._lock:
            return Recording(dict(self._initial), tuple(self._log))

    def _completed(self, call: IoCall) -> IoCall:
        """``call``, or for the first sight of a file that others made meanwhile, its creation."""
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
    """The files below ``folder`` by their names relative to it, without SQLite's shared memory."""
    root = Path(folder)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(_NOT_RECORDED)
    }
