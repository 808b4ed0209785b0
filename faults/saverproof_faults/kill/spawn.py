"""Make the processes of a trial: by a fork of the zygote, or as fresh interpreters."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from saverproof_faults.kill.child import Descriptors, Task, live
from saverproof_faults.kill.process import anonymous_file

# -P keeps the current folder off the path until the path that was handed over replaces it.
FRESH = (sys.executable, "-P", "-c")
# Everything imported stays alive: with the collector on, importing would take twice as long.
_BOOT = (
    "import gc, json, sys; gc.disable(); "
    "order = json.loads(sys.argv[1]); sys.path[:] = order['path']; "
    "from {module} import {function}; {function}(order)"
)


@dataclass(slots=True)
class Spawned:
    """A process that the zygote has made, and will wait for."""

    pid: int
    task: Task
    status: int
    output: int
    stacks: int
    go: int | None = None

    def release(self) -> None:
        """Let a process begin whose start was held back."""
        if self.go is not None:
            os.close(self.go)
            self.go = None

    def descriptors(self) -> list[int]:
        """Return the descriptors that the zygote holds open for this process."""
        held = [self.status, self.output, self.stacks]
        return held if self.go is None else [*held, self.go]

    def close(self) -> None:
        """Close the descriptors that the zygote holds open for this process."""
        for descriptor in self.descriptors():
            os.close(descriptor)


def boot(function: str, order: Mapping[str, object], path: Sequence[str]) -> list[str]:
    """Return the command line of a fresh interpreter that calls 'module:function' with ``order``.

    It collects no garbage until the function switches that on.
    """
    module, _, name = function.partition(":")
    order = {**order, "path": [entry or os.getcwd() for entry in path]}
    return [*FRESH, _BOOT.format(module=module, function=name), json.dumps(order)]


def spawn_by_fork(task: Task, memory: int, *, waiting: bool, release: tuple[int, ...]) -> Spawned:
    """Fork a process.

    It closes the descriptors in ``release``, which belong to the zygote alone.
    """
    spawned, files = _prepared(task, memory, waiting=waiting)
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _leave_zygote(spawned, release)
            live(task, files, zygote)
        finally:
            os._exit(1)
    return _parted(spawned, files, pid)


def spawn_by_exec(task: Task, memory: int, *, waiting: bool) -> Spawned:
    """Start a fresh interpreter, which imports what it needs by itself."""
    spawned, files = _prepared(task, memory, waiting=waiting)
    order = {"task": asdict(task), "files": asdict(files), "parent": os.getpid()}
    handed = [number for number in asdict(files).values() if number is not None]
    process = subprocess.Popen(
        boot(f"{__name__}:live_afresh", order, sys.path),
        stdin=subprocess.DEVNULL,
        stdout=files.output,
        stderr=files.output,
        pass_fds=handed,
        process_group=0,
    )
    # The zygote waits for all its children by itself: Popen must not wait for this one.
    process.returncode = 0
    return _parted(spawned, files, process.pid)


def live_afresh(order: dict[str, dict[str, object]]) -> NoReturn:
    """Run a process that was started as a fresh interpreter."""
    task = Task(**order["task"])  # type: ignore[arg-type]
    files = Descriptors(**order["files"])  # type: ignore[arg-type]
    live(task, files, order["parent"])  # type: ignore[arg-type]


def _prepared(task: Task, memory: int, *, waiting: bool) -> tuple[Spawned, Descriptors]:
    status, told = os.pipe()
    os.set_blocking(status, False)
    output, stacks = anonymous_file("output"), anonymous_file("stacks")
    go, held = os.pipe() if waiting else (None, None)
    return (
        Spawned(0, task, status, output, stacks, held),
        Descriptors(memory, told, output, stacks, go),
    )


def _parted(spawned: Spawned, files: Descriptors, pid: int) -> Spawned:
    os.close(files.status)
    if files.go is not None:
        os.close(files.go)
    spawned.pid = pid
    return spawned


def _leave_zygote(spawned: Spawned, release: tuple[int, ...]) -> None:
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    for descriptor in {spawned.status, *release} | (
        {spawned.go} if spawned.go is not None else set()
    ):
        os.close(descriptor)
