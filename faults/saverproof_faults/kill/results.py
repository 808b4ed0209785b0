"""What came of a trial, as data."""

import signal
from dataclasses import dataclass
from enum import StrEnum

from saverproof_faults.kill.plan import Json, KillAt


class HarnessError(RuntimeError):
    """The harness itself cannot go on; the message is one clear line."""


class KillMissed(AssertionError):  # noqa: N818 - named for what happened
    """A planned kill did not end the process: the trial has shown nothing."""


class DiedBy(StrEnum):
    """How a process of a trial ended."""

    KILL = "the planned SIGKILL"
    FINISHED = "returning"
    EXCEPTION = "an exception"
    EXIT = "leaving on its own"
    SIGNAL = "a signal that was not planned"
    DEADLINE = "the deadline"


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One process of a trial.

    ``started`` and ``acknowledged`` are the operations marked, ascending; ``places`` is how many
    times ``Acks.reached`` was called. ``value`` is what the body returned, ``exception`` the
    traceback of what it raised. ``duration_s`` runs from the body's first step to its end.
    ``stacks`` shows every thread, where the process hung or crashed; ``output`` is what it printed.
    """

    kill: KillAt | None
    died_by: DiedBy
    signal: int | None
    exit_code: int | None
    started: tuple[int, ...]
    acknowledged: tuple[int, ...]
    places: int
    value: Json
    exception: str | None
    duration_s: float
    stacks: str
    output: str

    @property
    def in_flight(self) -> tuple[int, ...]:
        """The operations that were started and not acknowledged."""
        return tuple(sorted({*self.started} - {*self.acknowledged}))

    def require_kill(self) -> "TrialResult":
        """This result; raises KillMissed unless the planned SIGKILL ended the process."""
        if self.died_by is not DiedBy.KILL:
            raise KillMissed(f"{self.kill} was planned, but {self.ending()}")
        return self

    def ending(self) -> str:
        """How the process ended, in one line."""
        return describe_ending(self.died_by, self.signal, self.exit_code, self.exception)


@dataclass(frozen=True, slots=True)
class View:
    """What a read-back returned (``value``), or why there is none.

    The other fields are those of ``TrialResult``; ``died_by`` is FINISHED if ``value`` counts.
    """

    value: Json
    died_by: DiedBy
    signal: int | None
    exit_code: int | None
    exception: str | None
    duration_s: float
    stacks: str
    output: str

    def ending(self) -> str:
        """How the process ended, in one line."""
        return describe_ending(self.died_by, self.signal, self.exit_code, self.exception)


def describe_ending(
    died_by: DiedBy, number: int | None, exit_code: int | None, exception: str | None
) -> str:
    """One line, such as 'the process ended by an exception: OSError: disk full'."""
    detail = ""
    if exception:
        detail = ": " + exception.strip().splitlines()[-1]
    elif died_by is DiedBy.SIGNAL and number is not None:
        detail = f": {signal.Signals(number).name}"
    elif died_by is DiedBy.EXIT:
        detail = f" with code {exit_code}"
    return f"the process ended by {died_by}{detail}"
