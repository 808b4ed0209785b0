"""Judges a history: which data was lost or seen in part, and which answers no order of the calls
explains.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from saverproof.families.concurrency.callers.records import (
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
)
from saverproof.families.concurrency.callers.workload import parent_of
from saverproof.families.concurrency.contract_ids import ORDER, PROCESSES, THREADS, TORN
from saverproof.families.concurrency.histories.sequential_spec import USUAL, Semantics, orders
from saverproof.families.concurrency.record import Problem

CUT_OFF = "cut off: the orders of a history are too many to be searched"
WRONG_PARENT = "a checkpoint has a wrong parent"
NO_ORDER = "the answers fit no order of the calls"
Key = tuple[int, int]
"""A place, and the number of a checkpoint there."""


@dataclass(slots=True)
class Judgement:
    """The judgement of a history.

    ``known`` are the problems that one caller alone has as well. ``raised`` counts errors that are
    no breach, ``reads`` the answers that were compared. ``cut_off`` are the keys for which not all
    orders could be searched.
    """

    problems: list[Problem] = field(default_factory=list)
    known: list[Problem] = field(default_factory=list)
    acknowledged: int = 0
    reads: int = 0
    keys: int = 0
    raised: int = 0
    cut_off: int = 0
    errors: list[str] = field(default_factory=list)

    def broken(self) -> set[str]:
        """The contracts that are broken."""
        return {problem.contract for problem in self.problems}


def semantics_of(events: Sequence[TimedCall]) -> Semantics:
    """Return whether puts and batches replace earlier ones, as the calls of one caller show it."""
    history = EventIndex(events, THREADS, USUAL)
    replaces = first_stays = True
    for event in events:
        if event.phase is not Phase.AFTER or event.operation.kind is not OperationKind.GET:
            continue
        for shown in event.shown:
            key = (event.operation.place, shown.number)
            puts = history.puts.get(key, [])
            replaces = replaces and shown.parts[0] in [f"p{e.operation.tag}" for e in puts[-1:]]
            for task, values in shown.writes:
                first = history.batches.get((*key, task), [])[:1]
                first_stays = first_stays and values in [e.operation.texts for e in first]
    return Semantics(replaces, first_stays)


def judge_history(
    events: Sequence[TimedCall],
    *,
    shared: bool,
    semantics: Semantics = USUAL,
    known: Collection[str] = (),
) -> Judgement:
    """Judge a whole history. ``shared`` says that all callers used one saver. Problems of the sorts
    in ``known`` are set aside.
    """
    history = EventIndex(events, THREADS if shared else PROCESSES, semantics)
    judgement = Judgement(
        acknowledged=sum(event.returned for event in events),
        reads=sum(len(e.shown) for e in events if e.operation.kind.reads and e.returned),
    )
    for event in events:
        if not event.returned:
            judgement.raised += 1
            judgement.errors.append(f"{event.operation.kind.value}: {event.error}")
    for problem in _problems(history, shared=shared):
        (judgement.known if problem.sort in known else judgement.problems).append(problem)
    if not judgement.problems and NO_ORDER not in known:
        found = orders(events, semantics)
        judgement.keys, judgement.cut_off = found.keys, found.cut_off
        judgement.problems += [
            Problem(
                ORDER,
                f"{NO_ORDER}, at {what}",
                "an order of the calls that keeps real time and explains every answer",
                "none of the orders does",
                witnesses,
            )
            for what, witnesses in found.broken
        ]
    return judgement


def _problems(history: EventIndex, *, shared: bool) -> Iterator[Problem]:
    """Yield what is wrong with single answers, and with the store at the end."""
    for event in history.events:
        if shared and not event.returned:
            yield history.raised(event)
    for event in history.events:
        yield from history.wrong_in(event)
    yield from history.lost()


class EventIndex:
    """The events of a history, indexed by checkpoint and place. ``contract`` is the contract that
    the loss of a write breaks.
    """

    def __init__(self, events: Sequence[TimedCall], contract: str, semantics: Semantics) -> None:
        self.events = events
        self.contract = contract
        self.semantics = semantics
        self.puts: dict[Key, list[TimedCall]] = {}
        self.batches: dict[tuple[int, int, int], list[TimedCall]] = {}
        self.deleted = {
            e.operation.place for e in events if e.operation.kind is OperationKind.DELETE
        }
        """The places whose threads are deleted in the history."""
        for event in events:
            made = event.operation
            if made.kind is OperationKind.PUT:
                self.puts.setdefault((made.place, made.number), []).append(event)
            elif made.kind is OperationKind.WRITES:
                self.batches.setdefault((made.place, made.number, made.task), []).append(event)

    def raised(self, event: TimedCall) -> Problem:
        """Return the problem of an error that a caller got because others use the saver, too. A
        read that raises beside a deletion counts as torn: it may have found half of the deletion.
        """
        halves = [
            other
            for other in self.events
            if other.operation.kind is OperationKind.DELETE
            and event.operation.kind.reads
            and other.operation.place == event.operation.place
            and other.overlaps(event)
        ]
        return Problem(
            TORN if halves else THREADS,
            f"{event.operation.kind.value} raised {event.error}"[:300],
            "the thread as it was, or nothing" if halves else "every operation to return",
            f"{event.operation.describe()}: raised {event.error}",
            (*halves, event),
        )

    # --- what a read shows -----------------------------------------------------------------

    def wrong_in(self, event: TimedCall) -> Iterator[Problem]:
        """Yield what is wrong with the tuples of one read."""
        made = event.operation
        seen: set[int] = set()
        for shown in event.shown:
            if made.kind is OperationKind.GET and shown.number != made.number:
                yield self._torn(event, shown, f"checkpoint {made.number}", "another checkpoint")
                continue
            if made.kind is OperationKind.LIST and shown.number in seen:
                yield self._lost(event, "a listing shows a checkpoint twice", shown.describe())
            seen.add(shown.number)
            yield from self._wrong_checkpoint(event, shown)
            if made.place in self.deleted:
                yield from self._half_deleted(event, shown)
            for task, values in shown.writes:
                yield from self._wrong_batch(event, shown, task, values)

    def _wrong_checkpoint(self, event: TimedCall, shown: ShownTuple) -> Iterator[Problem]:
        puts = self.puts.get((event.operation.place, shown.number), [])
        stored = {f"p{put.operation.tag}": put for put in puts}
        if len(set(shown.parts)) != 1 or shown.parts[0] not in stored:
            yield self._torn(
                event, shown, "what one put stored", "parts of several operations, or of none"
            )
        elif not stored[shown.parts[0]].returned:
            yield self._undone(event, stored[shown.parts[0]])
        elif shown.parent not in (None, parent_of(stored[shown.parts[0]].operation)):
            said = f"{shown.describe()}, {_after(shown.parent)}"
            yield self._lost(event, WRONG_PARENT, said, puts)

    def _wrong_batch(
        self, event: TimedCall, shown: ShownTuple, task: int, values: tuple[str, ...]
    ) -> Iterator[Problem]:
        batches = self.batches.get((event.operation.place, shown.number, task), [])
        for batch in batches:
            if values == batch.operation.texts:
                if not batch.returned and not any(other.returned for other in batches):
                    yield self._undone(event, batch)
                return
        length = max((batch.operation.count for batch in batches), default=0)
        if event.phase is Phase.DURING or not batches:
            yield self._torn(event, shown, "whole batches", f"part of a batch of {length}")
        elif len(values) > length:
            yield self._lost(event, f"task {task}'s writes are there twice", shown.describe())
        elif len(values) < length:
            yield self._lost(event, f"some of task {task}'s writes are gone", shown.describe())
        else:
            yield self._torn(event, shown, "one whole batch", "a mix of two batches")

    def _half_deleted(self, event: TimedCall, shown: ShownTuple) -> Iterator[Problem]:
        """Yield a checkpoint that shows half of a deletion: with writes from before the deletion,
        or without writes that it had before the read.

        If nothing was being deleted, missing writes are no half of a deletion. Whether they are
        missing rightly is for the search of orders to say.
        """
        place = event.operation.place
        puts = sorted(self.puts.get((place, shown.number), []), key=lambda put: put.began)
        life = [put for put in puts if f"p{put.operation.tag}" in shown.parts]
        if len(life) != 1:
            return
        born = life[0].began
        over = min((put.began for put in puts if put.began > born), default=math.inf)
        there = {task for task, _ in shown.writes}
        for (where, number, task), (batch, *_) in self.batches.items():
            if (where, number) != (place, shown.number):
                continue
            same_life = born < batch.began < over
            if task in there and not same_life:
                said = "writes of a thread that was deleted before"
                yield self._torn(event, shown, "a new thread without writes", said, batch)
            elif (
                same_life
                and task not in there
                and batch.ended < event.began
                and batch.returned
                and self._may_have_deleted(batch, event)
            ):
                expected, said = "the thread as it was, or nothing", "half of a deleted thread"
                yield self._torn(event, shown, expected, said, batch)

    def _may_have_deleted(self, batch: TimedCall, read: TimedCall) -> bool:
        """Return whether some deletion may have removed a batch before a read was answered."""
        return any(
            other.operation.kind is OperationKind.DELETE
            and other.operation.place == batch.operation.place
            and other.began < read.ended
            and other.ended > batch.began
            for other in self.events
        )

    # --- what is there in the end ----------------------------------------------------------

    def lost(self) -> Iterator[Problem]:
        """Yield what was acknowledged and is missing at the end."""
        for event in self.events:
            if event.phase is not Phase.AFTER or not event.returned:
                continue
            made = event.operation
            if made.place in self.deleted:
                continue
            if made.kind is OperationKind.GET:
                shown = next(iter(event.shown), None)
                yield from self._missing(event, (made.place, made.number), shown)
            elif made.kind is OperationKind.LIST:
                found = {shown.number: shown for shown in event.shown}
                for place, number in self.puts:
                    if place == made.place:
                        yield from self._missing(event, (place, number), found.get(number))

    def _missing(self, event: TimedCall, key: Key, shown: ShownTuple | None) -> Iterator[Problem]:
        puts = [put for put in self.puts.get(key, ()) if put.returned]
        if not puts:
            return
        if shown is None:
            yield self._lost(event, "an acknowledged put is gone", "nothing", puts)
            return
        if self.semantics.replaces:
            yield from self._overwritten(event, shown, puts)
        there = {task for task, _ in shown.writes}
        for (place, number, task), batches in self.batches.items():
            done = [batch for batch in batches if batch.returned]
            if (place, number) == key and done and task not in there:
                yield self._lost(event, "acknowledged writes are gone", shown.describe(), done)

    def _overwritten(
        self, event: TimedCall, shown: ShownTuple, puts: list[TimedCall]
    ) -> Iterator[Problem]:
        """Yield the problem if a checkpoint shows a put that a later put must have replaced."""
        for put in puts:
            if f"p{put.operation.tag}" in shown.parts:
                later = [other for other in puts if other.began > put.ended]
                if later:
                    yield self._lost(event, "a later put is gone", shown.describe(), [put, *later])

    # --- words -----------------------------------------------------------------------------

    def _torn(
        self, event: TimedCall, shown: ShownTuple, expected: str, observed: str, *also: TimedCall
    ) -> Problem:
        return Problem(
            TORN,
            f"{event.operation.kind.value} shows {observed}",
            f"{expected}, at {event.operation.at}",
            shown.describe(),
            (*self._about(event.operation.place, shown, event), *also, event),
        )

    def _about(self, place: int, shown: ShownTuple, read: TimedCall) -> tuple[TimedCall, ...]:
        """Return the operations that may have made what a tuple shows."""
        said = {text for _, values in shown.writes for text in values} | {*shown.parts}
        return tuple(
            event
            for event in self.events
            if not event.operation.kind.reads
            and event.operation.place == place
            and (
                said & {f"p{event.operation.tag}", *event.operation.texts}
                or (event.operation.kind is OperationKind.DELETE and event.overlaps(read))
            )
        )

    def _lost(
        self, event: TimedCall, summary: str, observed: str, operations: Iterable[TimedCall] = ()
    ) -> Problem:
        expected = "every operation that returned to have taken effect once"
        said = f"{summary}, at {event.operation.at}"
        return Problem(self.contract, said, expected, observed, (*operations, event))

    def _undone(self, event: TimedCall, operation: TimedCall) -> Problem:
        return Problem(
            self.contract,
            f"{operation.operation.kind.value} raised and took effect, at {event.operation.at}",
            "nothing of an operation that raised",
            f"it raised {operation.error}, and what it was given is there",
            (operation, event),
        )


def _after(parent: int | None) -> str:
    return f"after checkpoint {parent}" if parent else "without a parent"
