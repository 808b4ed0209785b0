"""The process from which the processes of all trials are made.

It is started by exec, imports what trials need, opens nothing, and serves one order after another
on a socket. When the socket or its parent ends, it kills what it has made, removes the harness's
folder, and ends.
"""

import contextlib
import gc
import importlib
import mmap
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import psutil

from saverproof_faults.kill import wire
from saverproof_faults.kill.acks import MEMORY_SIZE
from saverproof_faults.kill.child import Task
from saverproof_faults.kill.plan import Json, Start
from saverproof_faults.kill.process import (
    make_forks_cheap,
    sharable,
    signal_on_death_of_parent,
    threads,
)
from saverproof_faults.kill.spawn import Spawned, spawn_by_exec, spawn_by_fork
from saverproof_faults.kill.trial import HarnessGone, Trial

IMPORT_ALLOWANCE_S = 60
"""Seconds that importing what trials need may take; then the zygote ends."""


def main(order: dict[str, Any]) -> NoReturn:
    """Serve orders until the socket ends. ``order`` is what the harness passed."""
    control = socket.socket(fileno=order["control"])
    try:
        _leave_when_orphaned(order["parent"])
        Zygote(control, order["memory"]).serve(order["imports"])
    except (HarnessGone, EOFError, BrokenPipeError):
        _clear_away(order["root"])
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the harness shows it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def _clear_away(root: str) -> None:
    """End the children, which may still be writing, and remove what they wrote."""
    for number in (signal.SIGTERM, signal.SIGUSR1):
        # A second signal about the same end must not interrupt the removal.
        with contextlib.suppress(HarnessGone):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(number, signal.SIG_IGN)
    children = psutil.Process().children(recursive=True)
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    psutil.wait_procs(children, timeout=5)
    shutil.rmtree(root, ignore_errors=True)


class Zygote:
    """The server of orders: it makes and watches the processes of each trial."""

    def __init__(self, control: socket.socket, memory: int) -> None:
        self._control = control
        self._memory_file = memory
        self._memory = mmap.mmap(memory, MEMORY_SIZE)
        self._wakeup = -1
        self._forks = True

    def serve(self, imports: Sequence[str]) -> None:
        """Import modules, report that, and run trials.

        Raises:
            EOFError: the harness has ended.
        """
        before = sharable()
        try:
            for name in imports:
                _import(name)
        except Exception as problem:  # noqa: BLE001 - told to the harness in one line
            wire.send(self._control, {"error": f"{type(problem).__name__}: {problem}"})
            wire.receive(self._control)
        reason = _why_not_fork(imports, before)
        self._forks = reason is None
        self._wakeup = _wake_on_death_of_child()
        gc.freeze()
        make_forks_cheap()
        gc.enable()
        wire.send(self._control, {"reason": reason})
        while True:
            wire.send(self._control, self._trial(wire.receive(self._control)))

    def _trial(self, order: Json) -> Json:
        tasks = [Task(**task) for task in order["tasks"]]
        trial = Trial(self._memory, order["deadline_s"], self._wakeup, self._control.fileno())
        try:
            for task, after_s in zip(tasks, order["after_s"], strict=True):
                trial.add(self._spawned(task, order, trial), after_s)
            return trial.run()
        finally:
            trial.close()

    def _spawned(self, task: Task, order: Json, trial: Trial) -> Spawned:
        waiting = len(order["tasks"]) > 1
        if order["start"] == Start.FRESH or not self._forks:
            return spawn_by_exec(task, self._memory_file, waiting=waiting)
        release = (self._control.fileno(), self._wakeup, *trial.descriptors())
        return spawn_by_fork(task, self._memory_file, waiting=waiting, release=release)


def _import(name: str) -> None:
    # Without an alarm, a module that waits for ever would outlive a harness that is killed
    # meanwhile.
    signal.alarm(IMPORT_ALLOWANCE_S)
    importlib.import_module(name)
    signal.alarm(0)


def _why_not_fork(imports: Sequence[str], before: set[str]) -> str | None:
    """Return why the processes of trials cannot be forked from this one, or None if they can."""
    names = ", ".join(imports)
    if not hasattr(os, "fork"):
        return "this system has no fork"
    if threads() > 1:
        return f"importing {names} left {threads()} threads running"
    if opened := sorted(sharable() - before):
        return f"importing {names} left open: {', '.join(opened)}"
    return None


def _leave_when_orphaned(parent: int) -> None:
    def leave(number: int, frame: FrameType | None) -> None:
        # The kernel sends this also when only the thread that started this process has ended.
        if number == signal.SIGTERM or os.getppid() != parent:
            raise HarnessGone

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGUSR1, leave)
    signal_on_death_of_parent(signal.SIGUSR1)
    if os.getppid() != parent:
        raise HarnessGone


def _wake_on_death_of_child() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable
