"""What callers ask and what they are answered: plain data that travels between processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

MOST_LINES = 40
"""More lines of a history than this nobody reads."""

PLACES: tuple[tuple[str, str], ...] = (("a", ""), ("a", "child"), ("b", ""), ("a", "later"))
"""Thread and namespace of each place that histories use."""


class CallKind(StrEnum):
    """The operations of a history."""

    PUT = "put"
    WRITES = "put_writes"
    GET = "get_tuple"
    LATEST = "get_tuple, latest"
    LIST = "list"
    DELETE = "delete_thread"

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self in (CallKind.GET, CallKind.LATEST, CallKind.LIST)


class Phase(StrEnum):
    """When an operation was called: alone at first, with others, alone in the end."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. ``number`` is the checkpoint, 0 where none is named; ``tag`` tells puts and batches
    apart, whatever they store says it; ``count`` is the length of a batch.
    """

    kind: CallKind
    place: int
    number: int = 0
    tag: int = 0
    task: int = 0
    count: int = 0

    @property
    def at(self) -> str:
        """Its place in words."""
        thread, namespace = PLACES[self.place]
        return f"thread {thread!r}" + (f", namespace {namespace!r}" if namespace else "")

    def describe(self) -> str:
        """One line for people."""
        at = self.at
        match self.kind:
            case CallKind.PUT:
                return f"put checkpoint {self.number} with values p{self.tag}, {at}"
            case CallKind.WRITES:
                return (
                    f"put_writes of {self.count} writes w{self.tag}.0…, task {self.task}, on "
                    f"checkpoint {self.number}, {at}"
                )
            case CallKind.GET:
                return f"get_tuple of checkpoint {self.number}, {at}"
            case CallKind.LATEST:
                return f"get_tuple of the latest, {at}"
            case CallKind.DELETE:
                return f"delete_thread, {at}"
            case _:
                return f"list, {at}"


@dataclass(frozen=True, slots=True)
class ShownTuple:
    """One tuple as a reader saw it: the checkpoint's number (-1: not one of ours), the texts that
    its parts say they were stored with, and the values of each task's writes.
    """

    number: int
    parts: tuple[str, ...]
    writes: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def describe(self) -> str:
        """What it says, in a few words."""
        parts = " ".join(sorted(set(self.parts)))
        writes = "; ".join(f"task {task}: {_shortened(values)}" for task, values in self.writes)
        return f"checkpoint {self.number} ({parts}" + (f"; {writes})" if writes else ")")


def _shortened(values: tuple[str, ...]) -> str:
    if len(values) <= 6:
        return " ".join(values)
    return f"{' '.join(values[:3])} … {values[-1]}, {len(values)} in all"


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call and its answer. The times are those of one clock for all processes, in nanoseconds.

    ``error`` is what it raised; ``shown`` what a read was given.
    """

    caller: int
    operation: Operation
    began: int
    ended: int
    error: str | None = None
    shown: tuple[ShownTuple, ...] = ()
    phase: Phase = Phase.DURING

    @property
    def returned(self) -> bool:
        """Whether it was acknowledged."""
        return self.error is None

    def overlaps(self, other: TimedCall) -> bool:
        """Whether each began before the other ended."""
        return self.began < other.ended and other.began < self.ended

    def at(self, phase: Phase) -> TimedCall:
        """The same in another phase."""
        return replace(self, phase=phase)

    def describe(self, zero: int) -> str:
        """One line for people, with the times in milliseconds since ``zero``."""
        began, ended = (self.began - zero) / 1e6, (self.ended - zero) / 1e6
        who = f"caller {self.caller}" if self.phase is Phase.DURING else self.phase.value
        return (
            f"{began:8.2f} … {ended:8.2f} ms  {who}: {self.operation.describe()} {self._answer()}"
        )

    def _answer(self) -> str:
        if self.error is not None:
            return f"-> raised {self.error}"
        if not self.operation.kind.reads:
            return "-> returned"
        return f"-> {', '.join(one.describe() for one in self.shown) or 'nothing'}"


def lines_of(events: Sequence[TimedCall]) -> tuple[str, ...]:
    """Events as lines, in the order in which they began."""
    unique = sorted({id(event): event for event in events}.values(), key=lambda event: event.began)
    if not unique:
        return ()
    zero = unique[0].began
    lines = [event.describe(zero) for event in unique]
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    left = len(lines) - MOST_LINES
    return (*lines[: MOST_LINES // 2], f"… {left} more …", *lines[-MOST_LINES // 2 :])
