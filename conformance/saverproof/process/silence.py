"""Tells, from outside, a process that hangs from one that is at work and only says nothing.

What is seen is the processor time that it and the processes it started use, and whether a thread of
theirs runs, could run or waits for a disk. A server that one of them waits for is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import psutil

from saverproof.process.standstill import BUSY, any_at_work

CUT_OFF_AFTER = 6
"""How many times its patience a process may be silent while it is at work. Work that never ends
and work that takes long look alike, so that nothing is known of what is cut off then.
"""

_LOOKS = 20
"""How many times in a stretch of silence to look. Each look goes through all of the machine's
processes, and a sign of life mostly comes before the first.
"""


class SilenceEnding(Enum):
    """Why a silent process is waited for no more."""

    HUNG = "hung"
    """Nothing moved for as long as the patience lasts."""
    CUT_OFF = "cut off"
    """It was still at work."""


@dataclass(slots=True)
class Silence:
    """The silence of one process; ``patience_s`` is how long nothing may move in it.

    It is looked at in stretches of the patience: a process that works and then stands still has
    hung after the first whole stretch in which it stood still.
    """

    pid: int
    patience_s: float
    total_s: float = 0.0
    _stretch_s: float = 0.0
    _unseen_s: float = 0.0
    _at_work_s: float = 0.0
    _used_s: float = 0.0

    def end(self) -> None:
        """There was a sign of life."""
        self.total_s = self._stretch_s = self._unseen_s = 0.0

    def last(self, waited_s: float) -> SilenceEnding | None:
        """It lasts so many seconds longer; why to wait no more, or None."""
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
    """Processor time of some processes and of those of their children that have ended."""
    used_s = 0.0
    for process in tree:
        try:
            used_s += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue  # It has ended.
    return used_s
