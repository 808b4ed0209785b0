"""The calls of callers and the answers to them, as plain data that travels between processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

MOST_LINES = 40
"""The most lines of a history that a report shows: nobody reads more."""

MOST_ROUNDS = 10
"""The most threads of a history that are tidied up, one after the other, while a run goes on with
each.
"""

PLACES: tuple[tuple[str, str], ...] = (
    *(("a", ""), ("a", "child"), ("b", ""), ("a", "later")),
    *(
        (thread, namespace)
        for number in range(MOST_ROUNDS)
        for thread in (f"run-{number}", f"copy-{number}")
        for namespace in ("", "child")
    ),
)
"""The thread and the namespace of each place that histories use. The last ones are those of rounds:
two namespaces of each thread, and two of its copy.
"""
FIRST_OF_ROUNDS = 4
PLACES_OF_A_ROUND = 4


class OperationKind(StrEnum):
    """The operations of a history."""

    PUT = "put"
    WRITES = "put_writes"
    GET = "get_tuple"
    LATEST = "get_tuple, latest"
    LIST = "list"
    DELETE = "delete_thread"
    PRUNE = "prune, keep_latest"
    PRUNE_ALL = "prune, delete"
    DELETE_RUN = "delete_for_runs"
    COPY = "copy_thread"
    SETUP = "setup"

    @property
    def reads(self) -> bool:
        """True if the operation changes nothing."""
        return self in (OperationKind.GET, OperationKind.LATEST, OperationKind.LIST)

    @property
    def maintains(self) -> bool:
        """True if the operation is about a whole thread, or the whole store."""
        return not self.reads and self not in (OperationKind.PUT, OperationKind.WRITES)


class Phase(StrEnum):
    """The phase in which an operation was called: by one caller first, by several, or by one at the
    end.
    """

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Operation:
    """One call.

    ``number`` is the checkpoint, 0 where none is named. ``tag`` is unique for each put and batch,
    and every stored value names it. ``count`` is the length of a batch. ``parent`` is the number of
    a put's parent, 0 for the first checkpoint. A put that ``carries`` has a channel that is
    unchanged since the first checkpoint. ``run`` is the run of a put, or the run whose checkpoints
    are deleted.
    """

    kind: OperationKind
    place: int
    number: int = 0
    tag: int = 0
    task: int = 0
    count: int = 0
    parent: int = 0
    carries: bool = False
    run: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the texts in a checkpoint that is put: of its two channels, and of its
        metadata.
        """
        own = f"p{self.tag}"
        return (own, "p1" if self.carries else own, own)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the values of a batch."""
        return tuple(f"w{self.tag}.{place}" for place in range(self.count))

    @property
    def at(self) -> str:
        """The operation's place in words."""
        thread, namespace = PLACES[self.place]
        return f"thread {thread!r}" + (f", namespace {namespace!r}" if namespace else "")

    def describe(self) -> str:
        """Return the operation as one line for people."""
        at = self.at
        match self.kind:
            case OperationKind.PUT:
                parent = f" after {self.parent}" if self.parent else ""
                return f"put checkpoint {self.number}{parent} with values p{self.tag}, {at}"
            case OperationKind.WRITES:
                return (
                    f"put_writes of {self.count} writes w{self.tag}.0…, task {self.task}, on "
                    f"checkpoint {self.number}, {at}"
                )
            case OperationKind.GET:
                return f"get_tuple of checkpoint {self.number}, {at}"
            case OperationKind.LATEST:
                return f"get_tuple of the latest, {at}"
            case OperationKind.COPY:
                return f"copy_thread to {PLACES[copy_of(self.place)][0]!r}, {at}"
            case OperationKind.DELETE_RUN:
                return f"delete_for_runs of {self.run!r}, {at}"
            case OperationKind.DELETE | OperationKind.PRUNE | OperationKind.PRUNE_ALL:
                return f"{self.kind.value}, {at}"
            case OperationKind.SETUP:
                return "setup"
            case _:
                return f"list, {at}"


def copy_of(place: int) -> int:
    """Return the place in a round's copy that corresponds to this place."""
    return place + PLACES_OF_A_ROUND // 2


def round_of(place: int) -> int:
    """Return the number of the round that a place belongs to."""
    return (place - FIRST_OF_ROUNDS) // PLACES_OF_A_ROUND


@dataclass(frozen=True, slots=True)
class ShownTuple:
    """One tuple as a reader saw it.

    It has the checkpoint's number (-1: not one of the kit's), the texts in its parts, the values of
    each task's writes, and its parent's number (0: it has none; None: nobody looked), which some
    operations may change.
    """

    number: int
    parts: tuple[str, ...]
    writes: tuple[tuple[int, tuple[str, ...]], ...] = ()
    parent: int | None = field(default=None, compare=False)

    def describe(self) -> str:
        """Return the tuple in a few words."""
        parts = " ".join(sorted(set(self.parts)))
        writes = "; ".join(f"task {task}: {_shortened(values)}" for task, values in self.writes)
        return f"checkpoint {self.number} ({parts}" + (f"; {writes})" if writes else ")")


def _shortened(values: tuple[str, ...]) -> str:
    if len(values) <= 6:
        return " ".join(values)
    return f"{' '.join(values[:3])} … {values[-1]}, {len(values)} in all"


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call and its answer. The times come from one clock for all processes, in nanoseconds.

    ``error`` is what the call raised; ``shown`` is what a read was given.
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
        """True if the call returned."""
        return self.error is None

    def overlaps(self, other: TimedCall) -> bool:
        """Return whether each of the two calls began before the other ended."""
        return self.began < other.ended and other.began < self.ended

    def at(self, phase: Phase) -> TimedCall:
        """Return the same call in another phase."""
        return replace(self, phase=phase)

    def describe(self, zero: int) -> str:
        """Return the call as one line for people, with the times in milliseconds since ``zero``."""
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
    """Return events as lines, in the order in which they began."""
    unique = sorted({id(event): event for event in events}.values(), key=lambda event: event.began)
    if not unique:
        return ()
    zero = unique[0].began
    lines = [event.describe(zero) for event in unique]
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    left = len(lines) - MOST_LINES
    return (*lines[: MOST_LINES // 2], f"… {left} more …", *lines[-MOST_LINES // 2 :])
