"""Divides a history into keys, and says which answers about each key a right store could give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.families.concurrency.callers.records import (
    PLACES,
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
)
from saverproof.families.concurrency.histories.linearizability import (
    SearchResult,
    TimedOperation,
    search,
)

Content = tuple[str, frozenset[tuple[int, str]]]
"""What the parts of a checkpoint say ("" if it is not there), and the batch of each task."""

About = tuple[TimedCall, ShownTuple | None]
"""A call, and the tuple that it showed of a key."""

NOTHING: Content = ("", frozenset())


@dataclass(frozen=True, slots=True)
class Semantics:
    """The way in which a saver stores things again for one caller. ``replaces`` says whether a
    second put of a checkpoint replaces the first, ``first_stays`` whether the first of several
    batches of one task stays.
    """

    replaces: bool = True
    first_stays: bool = True


USUAL = Semantics()


@dataclass(frozen=True, slots=True)
class Key:
    """One object of a history: its name, the calls about it, and how they change the state of a
    right store.
    """

    name: str
    steps: tuple[TimedOperation[About], ...]
    start: Any
    apply: Callable[[Any, About], Iterator[Any]]

    def searched(self, steps: Sequence[TimedOperation[About]]) -> SearchResult:
        """Search for a legal order of these operations on the key."""
        return search(steps, self.start, self.apply)


@dataclass(frozen=True, slots=True)
class Orders:
    """The result of all searches: the keys without a legal order, each with the events that show
    it, how many keys were searched, and how many searches were cut off.
    """

    broken: tuple[tuple[str, tuple[TimedCall, ...]], ...]
    keys: int
    cut_off: int


def orders(events: Sequence[TimedCall], semantics: Semantics) -> Orders:
    """Search the orders of every key."""
    keys = list(keys_of(events, semantics))
    answers = [key.searched(key.steps) for key in keys]
    broken = [
        (key.name, tuple(step.action[0] for step in fewest(key)))
        for key, answer in zip(keys, answers, strict=True)
        if answer is SearchResult.ILLEGAL
    ]
    return Orders(tuple(broken), len(keys), answers.count(SearchResult.CUT_OFF))


def keys_of(events: Sequence[TimedCall], semantics: Semantics) -> Iterator[Key]:
    """Return the keys of a history: one for each checkpoint, and one for each place, for its latest
    checkpoint.
    """
    puts = {
        (e.operation.place, e.operation.number)
        for e in events
        if e.operation.kind is OperationKind.PUT
    }
    for place, number in sorted(puts):
        steps = tuple(step for event in events for step in _about(event, place, number))
        name = f"checkpoint {number} of {_named(place)}"
        yield Key(name, steps, NOTHING, Register(steps, semantics).apply)
    for place in sorted({place for place, _ in puts}):
        steps = tuple(step for event in events for step in _about_latest(event, place))
        yield Key(f"the latest checkpoint of {_named(place)}", steps, 0, _greatest)


def _named(place: int) -> str:
    thread, namespace = PLACES[place]
    return f"thread {thread!r}, namespace {namespace!r}"


# --- the calls about a key -----------------------------------------------------------------------


def _about(event: TimedCall, place: int, number: int) -> Iterator[TimedOperation[About]]:
    made = event.operation
    if made.place != place or (made.kind.reads and not event.returned):
        return
    found = next((one for one in event.shown if one.number == number), None)
    match made.kind:
        case OperationKind.PUT | OperationKind.WRITES | OperationKind.GET:
            if made.number == number:
                yield _step(event, found)
        case OperationKind.DELETE:
            yield _step(event, None)
        case OperationKind.LIST:
            # Tuple by tuple: each was read at some moment of the listing, absent ones too.
            yield _step(event, found)
        case OperationKind.LATEST:
            if found is not None:
                yield _step(event, found)


def _about_latest(event: TimedCall, place: int) -> Iterator[TimedOperation[About]]:
    made = event.operation
    if made.place != place:
        return
    writes = made.kind in (OperationKind.PUT, OperationKind.DELETE)
    if writes or (made.kind is OperationKind.LATEST and event.returned):
        yield _step(event, next(iter(event.shown), None))


def _step(event: TimedCall, shown: ShownTuple | None) -> TimedOperation[About]:
    return TimedOperation(event.began, event.ended, (event, shown), certain=event.returned)


# --- from state to state -------------------------------------------------------------------------


def _greatest(state: int, action: About) -> Iterator[int]:
    event, shown = action
    if event.operation.kind is OperationKind.PUT:
        yield max(state, event.operation.number)
    elif event.operation.kind is OperationKind.DELETE:
        yield 0
    elif state == (0 if shown is None else shown.number):
        yield state


class Register:
    """One checkpoint: the contents of its parts, and its batches. ``steps`` are all calls about
    it.
    """

    def __init__(self, steps: Sequence[TimedOperation[About]], semantics: Semantics) -> None:
        self._replaces = semantics.replaces
        made = [step.action[0].operation for step in steps]
        batches = Counter(one.task for one in made if one.kind is OperationKind.WRITES)
        self._rivals = {task for task, times in batches.items() if times > 1}
        # Where the last of several batches stays, or one is deleted, what was seen of a task says
        # nothing of what came before: its batches are left out.
        deleted = any(one.kind is OperationKind.DELETE for one in made)
        self._left_out = self._rivals if deleted or not semantics.first_stays else set()
        shown = [self._content(step.action[1]) for step in steps if step.action[1] is not None]
        self._seen = {batch for _, batches in shown for batch in batches}
        self._seen_tasks = {task for task, _ in self._seen}

    def apply(self, state: Content, action: About) -> Iterator[Content]:
        """Return the states that a call may lead to."""
        event, shown = action
        parts, batches = state
        made = event.operation
        match made.kind:
            case OperationKind.PUT:
                yield (parts if parts and not self._replaces else f"p{made.tag}", batches)
            case OperationKind.WRITES:
                batch = (made.task, f"w{made.tag}")
                if made.task in self._left_out or any(task == made.task for task, _ in batches):
                    yield state
                elif batch in self._seen or made.task not in self._rivals & self._seen_tasks:
                    # Of rival batches, the seen one came first: no other order is searched.
                    yield parts, batches | {batch}
            case OperationKind.DELETE:
                yield NOTHING
            case _:
                if self._content(shown) == (state if parts else NOTHING):
                    yield state

    def _content(self, shown: ShownTuple | None) -> Content:
        if shown is None:
            return NOTHING
        batches = {
            (task, values[0].rpartition(".")[0])
            for task, values in shown.writes
            if values and task not in self._left_out
        }
        return shown.parts[0], frozenset(batches)


# --- fewer, for people ---------------------------------------------------------------------------


def fewest(key: Key) -> list[TimedOperation[About]]:
    """Return the fewest steps of a key that still have no legal order, without reads that are not
    needed, and without writes that nobody was shown.
    """
    kept = sorted(key.steps, key=lambda step: step.began)
    for step in list(kept):
        if _is_read(step):
            kept = _without(step, kept, key)
    for step in list(kept):
        if _is_write(step) and not _is_seen(step, kept):
            kept = _without(step, kept, key)
    seen = _seen_in(kept)
    return [
        step
        for step in kept
        if step.action[0].phase is not Phase.BEFORE or seen & {f"p{step.action[0].operation.tag}"}
    ]


def _without(
    step: TimedOperation[About], kept: list[TimedOperation[About]], key: Key
) -> list[TimedOperation[About]]:
    """Return the steps without ``step`` if they still have no legal order; otherwise return all of
    them.
    """
    fewer = [other for other in kept if other is not step]
    return fewer if key.searched(fewer) is SearchResult.ILLEGAL else kept


def _is_read(step: TimedOperation[About]) -> bool:
    return step.action[0].operation.kind.reads


def _is_write(step: TimedOperation[About]) -> bool:
    return step.action[0].operation.kind in (OperationKind.PUT, OperationKind.WRITES)


def _is_seen(step: TimedOperation[About], among: Iterable[TimedOperation[About]]) -> bool:
    tag = step.action[0].operation.tag
    return bool(_seen_in(among) & {f"p{tag}", f"w{tag}"})


def _seen_in(steps: Iterable[TimedOperation[About]]) -> set[str]:
    """Return the tags of the puts and batches that reads show."""
    shown = [step.action[1] for step in steps if step.action[1] is not None]
    batches = {
        text.rpartition(".")[0] for one in shown for _, texts in one.writes for text in texts
    }
    return batches | {part for one in shown for part in one.parts}
