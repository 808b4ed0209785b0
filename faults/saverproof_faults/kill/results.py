"""Results of trials, as data."""

import signal
from dataclasses import dataclass
from enum import StrEnum

from saverproof_faults.kill.plan import Json, KillAt


class HarnessError(RuntimeError):
    """The harness cannot go on. The message is one line."""


class KillMissed(AssertionError):  # noqa: N818 - named for what happened
    """A planned kill did not end the process, so that the trial has shown nothing."""


class DiedBy(StrEnum):
    """The ways in which a process of a trial ends."""

    KILL = "the planned SIGKILL"
    FINISHED = "returning"
    EXCEPTION = "an exception"
    EXIT = "leaving on its own"
    SIGNAL = "a signal that was not planned"
    DEADLINE = "the deadline"


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The record of one process of a trial: its progress, and how it ended.

    ``started`` and ``acknowledged`` are the operations that it marked, in ascending order.
    ``places`` counts its calls of ``Acks.reached``. ``value`` is what the body returned,
    ``exception`` the traceback of what it raised. ``duration_s`` is the time from the body's first
    step to its end. ``stacks`` shows every thread if the process hung or crashed; ``output`` is
    what it printed.
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
        """Return this result if the planned SIGKILL ended the process.

        Raises:
            KillMissed: something else ended it.
        """
        if self.died_by is not DiedBy.KILL:
            raise KillMissed(f"{self.kill} was planned, but {self.ending()}")
        return self

    def ending(self) -> str:
        """Describe in one line how the process ended."""
        return describe_ending(self.died_by, self.signal, self.exit_code, self.exception)


@dataclass(frozen=True, slots=True)
class View:
    """The result of a process that looked at a store.

    ``value`` counts if ``died_by`` is FINISHED. The other fields are those of ``TrialResult``.
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
        """Describe in one line how the process ended."""
        return describe_ending(self.died_by, self.signal, self.exit_code, self.exception)


def describe_ending(
    died_by: DiedBy, number: int | None, exit_code: int | None, exception: str | None
) -> str:
    """Return one line, such as 'the process ended by an exception: OSError: disk full'."""
    if died_by is DiedBy.DEADLINE:
        return "the process gave no answer by its deadline"
    detail = ""
    if exception:
        detail = ": " + exception.strip().splitlines()[-1]
    elif died_by is DiedBy.SIGNAL and number is not None:
        detail = f": {signal.Signals(number).name}"
    elif died_by is DiedBy.EXIT:
        detail = f" with code {exit_code}"
    return f"the process ended by {died_by}{detail}"
