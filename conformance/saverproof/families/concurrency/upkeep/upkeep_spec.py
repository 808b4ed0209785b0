"""Says what a right store holds of a thread if an operation on the whole thread is called while a
run goes on.

Such an operation takes effect at one moment between its beginning and its end. So the thread can be
left in few states: one for each position of that moment among the run's calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from saverproof.families.concurrency.callers.records import (
    Operation,
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
)
from saverproof.families.concurrency.histories.linearizability import TimedOperation, endings

Key = tuple[int, int]
"""A place, and the number of a checkpoint there."""

Batches = frozenset[tuple[int, tuple[str, ...]]]
"""The values that each task has written."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """One checkpoint: the put that stored it (None if only writes have come), and its writes.

    A ``spent`` checkpoint is not judged: a prune may drop it, or keep it.
    """

    put: Operation | None = None
    batches: Batches = frozenset()
    spent: bool = False


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread, and the state of the thread from which its copy was made."""

    entries: frozenset[tuple[Key, StoredCheckpoint]] = frozenset()
    copied: frozenset[tuple[Key, StoredCheckpoint]] = frozenset()


def states_of(events: Iterable[TimedCall]) -> tuple[set[ThreadState], set[ThreadState]]:
    """Return the states in which these calls may leave a thread, and all states that callers may
    see meanwhile.
    """
    start, steps = ThreadState(), []
    for event in events:
        if event.phase is Phase.BEFORE:
            start = applied(start, event.operation)
        elif not event.operation.kind.reads:
            steps.append(
                TimedOperation(event.began, event.ended, event.operation, certain=event.returned)
            )
    return endings(steps, start, lambda state, made: [applied(state, made)])


def applied(state: ThreadState, made: Operation) -> ThreadState:
    """The state after a call."""
    entries = dict(state.entries)
    key = (made.place, made.number)
    match made.kind:
        case OperationKind.PUT:
            entries[key] = replace(entries.get(key, StoredCheckpoint()), put=made)
        case OperationKind.WRITES:
            there = entries.get(key, StoredCheckpoint())
            batch = (made.task, made.texts)
            entries[key] = replace(there, batches=there.batches | {batch})
        case OperationKind.DELETE | OperationKind.PRUNE_ALL:
            entries = {}
        case OperationKind.DELETE_RUN:
            entries = {key: one for key, one in entries.items() if not _is_of(made.run, one)}
        case OperationKind.PRUNE:
            entries = dict(_pruned(entries))
        case OperationKind.COPY:
            copied = frozenset((key, one) for key, one in state.entries if one.put)
            return replace(state, copied=copied)
    return replace(state, entries=frozenset(entries.items()))


def _is_of(run: str, entry: StoredCheckpoint) -> bool:
    return entry.put is not None and entry.put.run == run


def _pruned(entries: Mapping[Key, StoredCheckpoint]) -> Iterator[tuple[Key, StoredCheckpoint]]:
    """Yield the checkpoints after a prune: all but the newest of each place are spent. Early writes
    stay.
    """
    newest: dict[int, int] = {}
    for (place, number), one in entries.items():
        if one.put:
            newest[place] = max(newest.get(place, 0), number)
    for (place, number), one in entries.items():
        yield (place, number), replace(one, spent=number < newest.get(place, 0))


# --- what differs --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """The phrases of a problem: what is missing, what should not be there, and a batch that is
    there in part.
    """

    missing: str = "{} is gone"
    too_much: str = "{} is there, which was deleted"
    torn: str = "only a part of {} is there"


OF_A_COPY = Words(
    "{} is not in the copy, which shows what came after",
    "{} is in the copy, which does not show what came before",
    "only a part of {} is in the copy",
)


def is_of_torn_copies(found: Collection[str]) -> bool:
    """Return whether each of these differences is a batch that a copy has only in part."""
    torn = OF_A_COPY.torn
    before, _, behind = torn.partition("{}")
    return all(one.startswith(before) and one.endswith(behind) for one in found)


@dataclass(slots=True)
class ShownPlaces:
    """The checkpoints that readers were shown of some places at the end."""

    places: frozenset[int]
    tuples: dict[Key, ShownTuple] = field(default_factory=dict)
    words: Words = Words()

    def differences(self, entries: Iterable[tuple[Key, StoredCheckpoint]]) -> list[str]:
        """Describe, in a few words each, the differences between these checkpoints and what was
        shown.
        """
        there = {key: one for key, one in entries if one.put and key[0] in self.places}
        found = [
            self.words.too_much.format(f"checkpoint {number}")
            for _, number in sorted(self.tuples.keys() - there.keys())
        ]
        for key, one in sorted(there.items(), key=lambda item: item[0]):
            shown = self.tuples.get(key)
            if shown is not None:
                found += differences_of(shown, one, self.words)
            elif not one.spent:
                found.append(self.words.missing.format(f"checkpoint {key[1]}"))
        return found


def differences_of(
    shown: ShownTuple, entry: StoredCheckpoint, words: Words = Words()
) -> Iterator[str]:
    """Describe each difference between a tuple and the stored checkpoint that has its number."""
    at = f"checkpoint {shown.number}"
    if entry.put is None or shown.parts != entry.put.parts:
        yield f"{at} is not as it was put"
    if entry.spent:
        return
    there = {task for task, _ in shown.writes}
    for task, values in sorted(entry.batches - set(shown.writes)):
        if task in there:
            yield words.torn.format(f"a batch of {len(values)} writes of {at}")
        else:
            yield words.missing.format(f"a batch of writes of {at}")
    if there - {task for task, _ in entry.batches}:
        yield words.too_much.format(f"a batch of writes of {at}")
