"""Run one trial in the zygote: make its processes, watch them, kill them, collect their ends."""

import json
import math
import mmap
import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from saverproof_faults.kill.acks import began_ns, set_alone
from saverproof_faults.kill.child import BEGAN, READY
from saverproof_faults.kill.plan import Json
from saverproof_faults.kill.process import read_whole
from saverproof_faults.kill.spawn import Spawned

START_ALLOWANCE_S = 60.0
"""Seconds that a process may take until its body begins: a fresh interpreter imports everything
first.
"""
DUMP_ALLOWANCE_S = 5.0
"""Seconds that writing the stacks of a hung process may take: the disk may hang as well."""


class HarnessGone(BaseException):
    """The process that ordered this trial has ended."""


@dataclass(slots=True)
class Life:
    """The zygote's knowledge of one process."""

    spawned: Spawned
    after_s: float | None
    spawned_at: float
    began: float | None = None
    heard: bytes = b""
    silent: bool = False
    hung: bool = False
    killed: bool = False
    ended: float = math.inf
    status: int = 0

    @property
    def ready(self) -> bool:
        """True if the process waits for its start signal, or is past that."""
        return self.heard.startswith(READY) or self.began is not None or self.ended < math.inf


class Trial:
    """A trial, which runs until all its processes have ended."""

    def __init__(self, memory: mmap.mmap, deadline_s: float, wakeup: int, control: int) -> None:
        self._memory = memory
        self._deadline_s = deadline_s
        self._wakeup = wakeup
        self._control = control
        self._lives: list[Life] = []

    def add(self, spawned: Spawned, after_s: float | None) -> None:
        """Add a new process, to be killed ``after_s`` seconds after its body began."""
        self._lives.append(Life(spawned, after_s, time.monotonic()))

    def run(self) -> list[Json]:
        """Run the trial, and return how each process ended.

        Raises:
            HarnessGone: the harness has ended. All processes are killed then.
        """
        try:
            while self._alive():
                self._wait(self._until_next_event())
                for life in self._alive():
                    self._attend(life)
                if all(life.ready for life in self._lives):
                    for life in self._lives:
                        life.spawned.release()
        finally:
            self._end_all()
        return [_ending(life) for life in self._lives]

    def descriptors(self) -> list[int]:
        """Return the descriptors that the zygote holds open for the processes."""
        return [number for life in self._lives for number in life.spawned.descriptors()]

    def close(self) -> None:
        """Close what was opened for the processes."""
        for life in self._lives:
            life.spawned.close()

    def _alive(self) -> list[Life]:
        return [life for life in self._lives if life.ended == math.inf]

    def _wait(self, timeout: float) -> None:
        told = [life.spawned.status for life in self._alive() if not life.silent]
        # A saver may have left so many files open that descriptors are too high for select().
        poll = select.poll()
        for descriptor in (self._wakeup, self._control, *told):
            poll.register(descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(math.ceil(timeout * 1_000))]
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
        if self._control in ready:
            # No order ever comes during a trial: the channel is readable because the other side has
            # ended.
            raise HarnessGone

    def _until_next_event(self) -> float:
        now = time.monotonic()
        events = (min(self._deadline(life), self._kill_time(life)) for life in self._alive())
        return max(0.0, min(events) - now)

    def _kill_time(self, life: Life) -> float:
        if life.after_s is None or life.killed or life.began is None:
            return math.inf
        return life.began + life.after_s

    def _deadline(self, life: Life) -> float:
        if life.began is None:
            deadline = life.spawned_at + START_ALLOWANCE_S
        else:
            deadline = life.began + self._deadline_s
        return deadline + DUMP_ALLOWANCE_S if life.hung else deadline

    def _attend(self, life: Life) -> None:
        self._hear(life)
        now = time.monotonic()
        if now >= self._kill_time(life):
            life.killed = True
            os.kill(life.spawned.pid, signal.SIGKILL)
        elif now >= self._deadline(life):
            os.kill(life.spawned.pid, signal.SIGKILL if life.hung else signal.SIGABRT)
            life.hung = True
        self._bury_if_dead(life)

    def _hear(self, life: Life) -> None:
        with suppress(BlockingIOError):
            while piece := os.read(life.spawned.status, 1 << 16):
                life.heard += piece
            life.silent = True
        if life.began is None and BEGAN in life.heard[:2]:
            slot = life.spawned.task.slot
            stamp = began_ns(self._memory, slot) if slot is not None else 0
            life.began = stamp / 1e9 if stamp else time.monotonic()

    def _bury_if_dead(self, life: Life) -> None:
        pid = life.spawned.pid
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            return
        life.ended = time.monotonic()
        self._hear(life)
        # Kill the whole group before its number can be reused: what the process started must end
        # with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        _, life.status = os.waitpid(pid, 0)
        left = self._alive()
        if len(left) == 1 and left[0].spawned.task.slot is not None:
            set_alone(self._memory, left[0].spawned.task.slot)

    def _end_all(self) -> None:
        for life in self._alive():
            os.kill(life.spawned.pid, signal.SIGKILL)
            os.waitid(os.P_PID, life.spawned.pid, os.WEXITED | os.WNOWAIT)
            self._bury_if_dead(life)


def _ending(life: Life) -> Json:
    outcome: Json = {}
    said = life.heard.removeprefix(READY).removeprefix(BEGAN)
    # A process may be killed in the middle of its report.
    with suppress(json.JSONDecodeError):
        outcome = json.loads(said)
    signalled = os.WIFSIGNALED(life.status)
    return {
        "signal": os.WTERMSIG(life.status) if signalled else None,
        "exit_code": None if signalled else os.WEXITSTATUS(life.status),
        "outcome": outcome,
        "killed": life.killed,
        "hung": life.hung,
        "duration_s": life.ended - (life.began if life.began is not None else life.spawned_at),
        "stacks": read_whole(life.spawned.stacks),
        "output": read_whole(life.spawned.output),
    }
