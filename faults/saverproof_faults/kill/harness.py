"""The part of the kill -9 harness that tests use."""

import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from saverproof_faults.abandoned import claim, remove_abandoned
from saverproof_faults.kill import wire
from saverproof_faults.kill.acks import MEMORY_SIZE, WRITERS, clear, read_marks
from saverproof_faults.kill.plan import Body, Json, KillAt, Start, Writer, body_name
from saverproof_faults.kill.process import anonymous_file
from saverproof_faults.kill.results import DiedBy, HarnessError, TrialResult, View
from saverproof_faults.kill.spawn import boot
from saverproof_faults.kill.trial import DUMP_ALLOWANCE_S, START_ALLOWANCE_S
from saverproof_faults.kill.zygote import IMPORT_ALLOWANCE_S

_MARGIN_S = 10.0
"""Seconds that the zygote may take beyond the deadlines of a trial; then it counts as hung."""
_PREFIX = "saverproof-trials-"


class Harness:
    """A context manager that runs bodies in processes, kills them, and looks at what is left.

    ``imports`` are the modules that bodies need; they are loaded once. ``path`` is the sys.path for
    that. Private folders are made in ``scratch``, or in the system's temporary folder. Entering
    starts the zygote; leaving ends every process and removes every folder. One trial runs at a
    time; other threads wait.

    Raises:
        HarnessError: the zygote cannot start, or has died.
    """

    def __init__(
        self,
        imports: Sequence[str] = (),
        *,
        path: Sequence[str] | None = None,
        scratch: Path | None = None,
    ) -> None:
        self._imports = list(imports)
        self._path = list(sys.path if path is None else path)
        self._scratch = scratch
        self._lock = threading.Lock()
        self._close: weakref.finalize[..., Any] | None = None
        self.reason: str | None = None
        """Why each process is a fresh interpreter, which takes seconds and not milliseconds; None
        if they are forks.
        """

    def __enter__(self) -> Self:
        try:
            remove_abandoned(self._scratch or Path(tempfile.gettempdir()), f"{_PREFIX}*")
            self._root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._scratch))
            claimed = claim(self._root)
        except OSError as problem:
            raise HarnessError(f"no folder for trials can be made: {problem}") from problem
        self._memory_file = anonymous_file("acks")
        os.truncate(self._memory_file, MEMORY_SIZE)
        self._memory = mmap.mmap(self._memory_file, MEMORY_SIZE)
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = self._start(theirs)
        self._close = weakref.finalize(
            self, _shut_down, os.getpid(), self._control, self._process, self._root, claimed
        )
        os.close(self._memory_file)
        try:
            hello = self._answer(IMPORT_ALLOWANCE_S + _MARGIN_S)
            if "error" in hello:
                names = ", ".join(self._imports)
                raise HarnessError(f"importing {names} failed: {hello['error']}")
        except BaseException:
            self.close()
            raise
        self.reason = hello["reason"]
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """True if trials can be run: it was entered, is not closed, and its zygote lives."""
        return self._close is not None and self._close.alive

    def close(self) -> None:
        """End every process and remove every folder. Calling it again does nothing."""
        if self._close is not None:
            self._close()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a private folder (0700) for the length of a block.

        It is also removed when the harness is closed.
        """
        try:
            path = Path(tempfile.mkdtemp(dir=self._root))
        except OSError as problem:
            raise HarnessError(f"no folder for a trial can be made: {problem}") from problem
        try:
            yield path
        finally:
            shutil.rmtree(path)

    def trial(
        self,
        body: Body,
        arguments: Mapping[str, Json] | None = None,
        *,
        kill: KillAt | None = None,
        deadline_s: float = 10.0,
    ) -> TrialResult:
        """Run ``body`` in a process; it is called with ``Acks`` and ``arguments``.

        However the process ends, the result says it; see ``TrialResult.require_kill``. A process
        that has not ended ``deadline_s`` seconds after its body began is killed, and the result has
        its stacks.
        """
        return self.together([Writer(body, arguments or {}, kill)], deadline_s=deadline_s)[0]

    def together(self, writers: Sequence[Writer], *, deadline_s: float = 10.0) -> list[TrialResult]:
        """Run several bodies at once, each in a process of its own. They begin together.

        A body that should outlive a killed one can ask ``Acks.alone``.
        """
        if not 1 <= len(writers) <= WRITERS:
            raise ValueError(f"a trial has 1 to {WRITERS} writers, got {len(writers)}")
        tasks = [
            {
                "body": body_name(writer.body),
                "arguments": dict(writer.arguments),
                "slot": slot,
                "place": writer.kill.at_place if writer.kill else None,
            }
            for slot, writer in enumerate(writers)
        ]
        after_s = [writer.kill.after_s if writer.kill else None for writer in writers]
        with self._lock:
            for slot in range(len(writers)):
                clear(self._memory, slot)
            endings = self._order(tasks, after_s, deadline_s, Start.LIKE_THE_REST)
            return [
                self._result(writer, slot, ending)
                for slot, (writer, ending) in enumerate(zip(writers, endings, strict=True))
            ]

    def look(
        self, body: Body, arguments: Mapping[str, Json] | None = None, *, deadline_s: float = 10.0
    ) -> View:
        """Return what ``body``, called with ``arguments``, sees in a second process."""
        return self.looks(body, [arguments or {}], deadline_s=deadline_s)[0]

    def looks(
        self, body: Body, each: Sequence[Mapping[str, Json]], *, deadline_s: float = 10.0
    ) -> list[View]:
        """Call ``body`` with each of these arguments in processes of their own, all at once."""
        return self._look(body, each, deadline_s, Start.LIKE_THE_REST)

    def look_afresh(
        self, body: Body, arguments: Mapping[str, Json] | None = None, *, deadline_s: float = 10.0
    ) -> View:
        """Return what ``body``, called with ``arguments``, sees in a fresh interpreter.

        Unlike a fork, that shares nothing with any other process.
        """
        return self._look(body, [arguments or {}], deadline_s, Start.FRESH)[0]

    def _look(
        self, body: Body, each: Sequence[Mapping[str, Json]], deadline_s: float, start: Start
    ) -> list[View]:
        name = body_name(body)
        tasks = [
            {"body": name, "arguments": dict(arguments), "slot": None, "place": None}
            for arguments in each
        ]
        with self._lock:
            endings = self._order(tasks, [None] * len(tasks), deadline_s, start)
        return [self._view(ending) for ending in endings]

    @staticmethod
    def _view(ending: Json) -> View:
        outcome = ending["outcome"]
        return View(
            value=outcome.get("value"),
            died_by=_died_by(ending, planned=False),
            signal=ending["signal"],
            exit_code=ending["exit_code"],
            exception=outcome.get("exception"),
            duration_s=outcome.get("duration_s", ending["duration_s"]),
            stacks=ending["stacks"],
            output=ending["output"],
        )

    def _result(self, writer: Writer, slot: int, ending: Json) -> TrialResult:
        marks = read_marks(self._memory, slot)
        place = writer.kill.at_place if writer.kill else None
        planned = ending["killed"] or (place is not None and marks.places >= place)
        outcome = ending["outcome"]
        return TrialResult(
            kill=writer.kill,
            died_by=_died_by(ending, planned=planned),
            signal=ending["signal"],
            exit_code=ending["exit_code"],
            started=marks.started,
            acknowledged=marks.acknowledged,
            places=marks.places,
            value=outcome.get("value"),
            exception=outcome.get("exception"),
            duration_s=outcome.get("duration_s", ending["duration_s"]),
            stacks=ending["stacks"],
            output=ending["output"],
        )

    def _order(
        self, tasks: list[Json], after_s: list[float | None], deadline_s: float, start: Start
    ) -> Json:
        if not self.is_open:
            raise HarnessError("the harness is not open")
        order = {
            "tasks": tasks,
            "after_s": after_s,
            "deadline_s": deadline_s,
            "start": start,
        }
        try:
            wire.send(self._control, order)
            return self._answer(START_ALLOWANCE_S + deadline_s + 2 * DUMP_ALLOWANCE_S + _MARGIN_S)
        except BaseException:
            # Close: an answer that came now would be taken for the answer to the next order.
            self.close()
            raise

    def _answer(self, timeout_s: float) -> Json:
        self._control.settimeout(timeout_s)
        try:
            return wire.receive(self._control)
        except TimeoutError:
            raise HarnessError(f"the zygote did not answer in {timeout_s:.0f} s") from None
        except EOFError:
            self._process.wait()
            said = (self._root / "zygote.log").read_text(errors="replace").strip()
            last = said.splitlines()[-1] if said else f"code {self._process.returncode}"
            raise HarnessError(f"the zygote ended: {last}") from None

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        order = {
            "control": theirs.fileno(),
            "memory": self._memory_file,
            "imports": self._imports,
            "parent": os.getpid(),
            "root": str(self._root),
        }
        with (self._root / "zygote.log").open("wb") as log:
            return subprocess.Popen(
                boot(f"{__package__}.zygote:main", order, self._path),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), self._memory_file),
                start_new_session=True,
            )


def _died_by(ending: Json, *, planned: bool) -> DiedBy:
    if ending["hung"]:
        return DiedBy.DEADLINE
    if ending["signal"] is not None:
        killed = planned and ending["signal"] == signal.SIGKILL
        return DiedBy.KILL if killed else DiedBy.SIGNAL
    if "value" in ending["outcome"]:
        return DiedBy.FINISHED
    return DiedBy.EXCEPTION if "exception" in ending["outcome"] else DiedBy.EXIT


def _shut_down(
    owner: int, control: socket.socket, process: subprocess.Popen[bytes], root: Path, claimed: int
) -> None:
    if os.getpid() != owner:  # this is a fork of the owner, and owns nothing of it
        return
    with suppress(OSError):
        # A fork of this process may hold the socket as well; a shutdown ends it for all.
        control.shutdown(socket.SHUT_RDWR)
    control.close()
    try:
        process.wait(_MARGIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(root, ignore_errors=True)
    os.close(claimed)
