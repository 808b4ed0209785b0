"""Tell, from outside, a silent process that hangs from one that is still at work.

A process is at work if it and the processes that it started use processor time, or if one of their
threads runs, could run or waits for a disk. The work of a server that they wait for is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import psutil

from saverproof.process.standstill import BUSY, any_at_work

CUT_OFF_AFTER = 6
"""How many times its patience a process may be silent while it is at work.

Work that never ends and work that takes long look alike. So nothing is judged of a process that was
cut off.
"""

_LOOKS = 20
"""How many looks are taken during one patience of silence. Each look goes through all processes of
the machine, and most signs of life come before the first look.
"""


class SilenceEnding(Enum):
    """The reason why a silent process is no longer waited for."""

    HUNG = "hung"
    """Nothing has moved in it for a whole patience."""
    CUT_OFF = "cut off"
    """The process was still at work."""


@dataclass(slots=True)
class Silence:
    """The silence of one process; ``patience_s`` is how long nothing may move in it.

    The silence is divided into stretches as long as the patience. A process that works and then
    stands still has hung after the first whole stretch in which it stood still.
    """

    pid: int
    patience_s: float
    total_s: float = 0.0
    _stretch_s: float = 0.0
    _unseen_s: float = 0.0
    _at_work_s: float = 0.0
    _used_s: float = 0.0

    def end(self) -> None:
        """Begin again after a sign of life."""
        self.total_s = self._stretch_s = self._unseen_s = 0.0

    def last(self, waited_s: float) -> SilenceEnding | None:
        """Prolong the silence by ``waited_s`` seconds, and return why to stop waiting, or None to
        go on.
        """
        self._unseen_s += waited_s
        if self._unseen_s < self.patience_s / _LOOKS:
            return None
        waited_s, self._unseen_s = self._unseen_s, 0.0
        tree = _tree(self.pid)
        if not self._stretch_s:
            self._used_s, self._at_work_s = _used_s(tree), 0.0
        self.total_s += waited_s
        self._stretch_s += waited_s
        if any(any_at_work(process.pid) for process in tree):
            self._at_work_s += waited_s
        if self._stretch_s < self.patience_s:
            return None
        moved_s = max(_used_s(tree) - self._used_s, self._at_work_s)
        if moved_s < BUSY * self._stretch_s:
            return SilenceEnding.HUNG
        self._stretch_s = 0.0
        return SilenceEnding.CUT_OFF if self.total_s >= CUT_OFF_AFTER * self.patience_s else None


def _tree(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _used_s(tree: list[psutil.Process]) -> float:
    """Return the processor time of some processes and of their children that have ended, in
    seconds.
    """
    used_s = 0.0
    for process in tree:
        try:
            used_s += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue  # It has ended.
    return used_s
