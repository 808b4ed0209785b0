"""Judges histories in which someone tidies up while runs go on, thread by thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from saverproof.families.concurrency.callers.records import (
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
    copy_of,
)
from saverproof.families.concurrency.contract_ids import (
    COPY,
    DELETION,
    LATE,
    PROCESSES,
    PRUNE,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.record import Problem
from saverproof.families.concurrency.upkeep.upkeep_rounds import DELETING, WHOLE_THREADS, Round
from saverproof.families.concurrency.upkeep.upkeep_spec import (
    OF_A_COPY,
    Key,
    ShownPlaces,
    ThreadState,
    Words,
    differences_of,
    is_of_torn_copies,
    states_of,
)
from saverproof.families.concurrency.upkeep.witness import cycle_of, is_shown

CONTRACTS = {
    OperationKind.PRUNE: PRUNE,
    OperationKind.COPY: COPY,
    OperationKind.DELETE: DELETION,
    OperationKind.PRUNE_ALL: DELETION,
    OperationKind.DELETE_RUN: DELETION,
}
"""The contract of an operation about the calls beside it. ``setup`` has none: it must change
nothing.
"""

EXPECTED = {
    PRUNE: "the newest checkpoint that the prune found, and all that the run has put since",
    COPY: "the thread as it was at one moment while it was copied",
    DELETION: "nothing of before the deletion, and all of after it and of other runs",
    LATE: "of what was put beside the deletion, nothing or all",
}


@dataclass(frozen=True, slots=True)
class RoundJudgement:
    """The judgement of a round. ``called`` says whether its operation returned, ``beside`` whether
    the run made a call at the same time; ``errors`` do not count as a breach.
    """

    kind: OperationKind
    problems: tuple[Problem, ...]
    called: bool
    beside: bool
    acknowledged: int
    reads: int
    errors: tuple[str, ...]


def judge_round(one: Round, events: Sequence[TimedCall], *, shared: bool) -> RoundJudgement:
    """Judge the events of a history that are about the thread of one round. ``shared`` says that
    all callers used one saver.
    """
    own = [event for event in events if event.operation.place in one.places]
    judging = _RoundJudging(one, own, THREADS if shared else PROCESSES)
    keeper = judging.keeper
    return RoundJudgement(
        one.kind,
        tuple(judging.problems(shared=shared)),
        called=keeper is not None and keeper.returned,
        beside=keeper is not None and any(keeper.overlaps(event) for event in judging.run),
        acknowledged=sum(event.returned for event in own),
        reads=sum(len(event.shown) for event in own if event.returned),
        errors=tuple(f"{e.operation.kind.value}: {e.error}" for e in own if not e.returned),
    )


class _RoundJudging:
    """The events of a round, by caller."""

    def __init__(self, one: Round, events: Sequence[TimedCall], contract_of_loss: str) -> None:
        self.round = one
        self.loss = contract_of_loss
        self.contract = CONTRACTS.get(one.kind, contract_of_loss)
        self.after = [event for event in events if event.phase is Phase.AFTER]
        self.done = [event for event in events if event.phase is not Phase.AFTER]
        during = [event for event in events if event.phase is Phase.DURING]
        self.keeper = next((e for e in during if e.operation.kind is one.kind), None)
        self.run = [
            e for e in during if e.operation.kind in (OperationKind.PUT, OperationKind.WRITES)
        ]
        self.readers = [event for event in during if event.operation.kind.reads]

    def problems(self, *, shared: bool) -> Iterator[Problem]:
        """Yield what is wrong with the thread at the end, with what readers saw, and with the
        errors.
        """
        if any(event.phase is Phase.BEFORE and not event.returned for event in self.done):
            # A thread that could not be prepared says nothing.
            return
        ends, seen = states_of(self.done)
        left = list(self._left(ends))
        yield from left
        for event in self.readers:
            if event.returned and not left:
                # Otherwise readers are shown what is left, and that is wrong.
                yield from self._read(event, seen)
            elif not event.returned and self._may_show_half(event):
                yield self._raised(event, TORN)
            elif shared and not event.returned:
                yield self._raised(event, THREADS)
        for event in self.run if shared else ():
            if not event.returned and self._is_to_return(event):
                yield self._raised(event, THREADS)

    def _is_to_return(self, event: TimedCall) -> bool:
        """Return whether a call of the run may not be refused.

        What goes on with a thread, or with a run, that is deleted may be. What goes on with a
        checkpoint that its own run was told is stored may not.
        """
        if self.round.kind in WHOLE_THREADS:
            return False
        made = event.operation
        needed = made.parent if made.kind is OperationKind.PUT else made.number
        return self.round.kind is not OperationKind.DELETE_RUN or any(
            other.returned
            and other.ended < event.began
            and other.operation.kind is OperationKind.PUT
            and (other.operation.place, other.operation.number) == (made.place, needed)
            for other in self.run
        )

    # --- what is left ----------------------------------------------------------------------

    def _left(self, ends: set[ThreadState]) -> Iterator[Problem]:
        for event in self.after:
            if not event.returned:
                said = f"what is left cannot be read: {event.operation.kind.value} raised"
                yield self._problem(said, f"{event.error}", event)
                return
        if not self.after or self.keeper is None:
            return
        shown = self._shown((self.round.place, self.round.place + 1), 0)
        copy = self._shown(self.round.places[2:], copy_of(0)) if self.keeper.returned else None
        each = [_differences(end, shown, copy) for end in ends]
        # A part of a batch is reported as such, and not as a batch that came too early.
        found = min(each, key=lambda found: (len(found), not is_of_torn_copies(found), found))
        found = found or self._wrong_latest(shown)
        if not found:
            return
        if self.round.kind in WHOLE_THREADS:
            certain = list(self._surely_wrong(shown))
            contract, found = (DELETION, certain) if certain else (LATE, found)
            yield self._problem(found[0], "; ".join(found), *self.after, contract=contract)
            return
        if self.round.kind is OperationKind.COPY and is_of_torn_copies(found):
            problem = self._problem(found[0], "; ".join(found), *self.after)
            # The batch itself may have been there in part when the copy was made.
            yield replace(problem, behind=TORN)
            return
        cycle = cycle_of(self.keeper, self.run, copy) if copy and copy.places else ""
        yield self._problem(found[0], cycle or "; ".join(found), *self.after)

    def _surely_wrong(self, shown: ShownPlaces) -> Iterator[str]:
        """Yield what is wrong after a deletion of the thread, regardless of the calls beside it."""
        keeper = self.keeper
        if keeper is None or not keeper.returned:
            return
        before = [event for event in self.done if event.ended < keeper.began]
        after = [event for event in self.run if event.began > keeper.ended and event.returned]
        put = {
            (event.operation.place, event.operation.number)
            for event in after
            if event.operation.kind is OperationKind.PUT
        }
        for event in before:
            made = event.operation
            if not made.kind.reads and is_shown(made, shown):
                yield f"{made.kind.value} of checkpoint {made.number} is there, which was deleted"
        for event in after:
            made = event.operation
            if (made.place, made.number) in put and not is_shown(made, shown):
                yield f"{made.kind.value} of checkpoint {made.number} is not there as it was made"

    def _shown(self, places: Sequence[int], shift: int) -> ShownPlaces:
        """Return what listings of these places show. A copy's places are given as those of its
        source.
        """
        lists = [
            event
            for event in self.after
            if event.operation.kind is OperationKind.LIST and event.operation.place in places
        ]
        tuples: dict[Key, ShownTuple] = {
            (event.operation.place - shift, one.number): one
            for event in lists
            for one in event.shown
        }
        words = OF_A_COPY if shift else Words()
        return ShownPlaces(frozenset(place - shift for place in places), tuples, words)

    def _wrong_latest(self, shown: ShownPlaces) -> list[str]:
        place = self.round.place
        newest = max((number for where, number in shown.tuples if where == place), default=None)
        for event in self.after:
            if event.operation.kind is OperationKind.LATEST:
                latest = event.shown[0] if event.shown else None
                there = shown.tuples.get((place, newest)) if newest is not None else None
                if latest != there:
                    said = "nothing" if latest is None else latest.describe()
                    return [f"the latest is not the newest that is listed: {said}"]
        return []

    # --- what readers see ------------------------------------------------------------------

    def _read(self, event: TimedCall, seen: set[ThreadState]) -> Iterator[Problem]:
        """Yield what a read shows that was not stored in that form at any moment."""
        made = event.operation
        for shown in event.shown:
            if not any(
                _is_in(state, (made.place, shown.number), shown, made.kind) for state in seen
            ):
                said = f"{made.kind.value} shows what never was"
                yield self._torn(said, shown.describe(), event)
        if made.kind is OperationKind.LIST or event.shown:
            return
        if made.kind is OperationKind.LATEST:
            empty = any(not _numbers(state, made.place) for state in seen)
        else:
            empty = any(_may_lack(state, (made.place, made.number)) for state in seen)
        if not empty:
            yield self._torn(f"{made.kind.value} shows nothing", "nothing", event)

    def _may_show_half(self, event: TimedCall) -> bool:
        """Return whether something was being removed, half of which a read may find."""
        removes = self.round.kind in DELETING or self.round.kind is OperationKind.PRUNE
        return removes and self.keeper is not None and self.keeper.overlaps(event)

    # --- words -----------------------------------------------------------------------------

    def _problem(self, said: str, observed: str, *events: TimedCall, contract: str = "") -> Problem:
        contract = contract or self.contract
        kind = self.round.kind.value
        summary = f"{said}, after {kind} beside a run, at {self.round.keeper[-1].at}"
        expected = EXPECTED.get(contract, "every operation that returned to have taken effect")
        return Problem(contract, summary, expected, observed, self._told(*events))

    def _torn(self, said: str, observed: str, event: TimedCall) -> Problem:
        summary = f"{said}, beside {self.round.kind.value}, at {event.operation.at}"
        expected = "what was there at some moment"
        return Problem(TORN, summary, expected, observed, self._told(event))

    def _raised(self, event: TimedCall, contract: str) -> Problem:
        said = f"{event.operation.kind.value} raised {event.error}"[:300]
        expected = "every operation to return"
        observed = f"{event.operation.describe()}: raised {event.error}"
        return Problem(contract, said, expected, observed, self._told(event))

    def _told(self, *events: TimedCall) -> tuple[TimedCall, ...]:
        """Return the events that describe a problem to readers: the run's calls, and the operation
        beside them.
        """
        return (*self.run, *([self.keeper] if self.keeper else []), *events)


def _differences(end: ThreadState, shown: ShownPlaces, copy: ShownPlaces | None) -> list[str]:
    found = shown.differences(end.entries)
    return found + (copy.differences(end.copied) if copy else [])


def _numbers(state: ThreadState, place: int) -> list[int]:
    return [number for (where, number), one in state.entries if where == place and one.put]


def _may_lack(state: ThreadState, key: Key) -> bool:
    one = dict(state.entries).get(key)
    return one is None or one.put is None or one.spent


def _is_in(state: ThreadState, key: Key, shown: ShownTuple, kind: OperationKind) -> bool:
    one = dict(state.entries).get(key)
    if one is None or one.put is None or any(differences_of(shown, one)):
        return False
    return kind is not OperationKind.LATEST or key[1] == max(_numbers(state, key[0]))
