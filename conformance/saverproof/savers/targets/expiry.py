"""The time after which a saver forgets what nobody uses, as its author states it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from saverproof.errors import TargetError
from saverproof.savers.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The time for which a saver keeps what nobody uses, and how that time is made to pass.

    Attributes:
        seconds: the time for which the target's saver is opened (its TTL).
        pass_time: makes so many seconds pass for all that a workspace holds, without waiting: the
            time that is left of each key is shortened, or each timestamp is moved back, and what
            is due is removed as the store would remove it.
        renewed_by_reads: whether the saver says that reading a thread begins its time anew, as
            writing does.

    Raises:
        TargetError: an attribute is not what it must be.
    """

    seconds: float
    pass_time: Callable[[Workspace, float], object]
    renewed_by_reads: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.seconds, bool) or not isinstance(self.seconds, int | float):
            raise _wrong("seconds", self.seconds, "a number")
        # Less would pass by itself while a store is looked at.
        if not _LEAST_S <= self.seconds < math.inf:
            raise _wrong("seconds", self.seconds, f"a finite number from {_LEAST_S} on")
        if not callable(self.pass_time):
            raise _wrong("pass_time", self.pass_time, "a function of a Workspace and seconds")
        if not isinstance(self.renewed_by_reads, bool):
            raise _wrong("renewed_by_reads", self.renewed_by_reads, "True or False")


_LEAST_S = 60


def _wrong(attribute: str, found: object, expected: str) -> TargetError:
    return TargetError(f"Expiry: {attribute} is {found!r:.80}, expected {expected}")
