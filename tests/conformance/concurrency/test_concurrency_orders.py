"""The search for legal orders, and what a history is blamed for, on histories made by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from saverproof.families.concurrency.callers.records import (
    Operation,
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
)
from saverproof.families.concurrency.contract_ids import ORDER, PROCESSES, THREADS, TORN
from saverproof.families.concurrency.histories.judging import (
    WRONG_PARENT,
    judge_history,
    semantics_of,
)
from saverproof.families.concurrency.histories.linearizability import (
    SearchResult,
    TimedOperation,
    search,
)
from saverproof.families.concurrency.histories.sequential_spec import Semantics
from saverproof.families.concurrency.record import Problem
from saverproof.programs.steps.codec import decode, encode

Write = tuple[str, int]
"""("write", value) or ("read", value), of one number that begins as 0."""


def register(state: int, action: Write) -> Iterator[int]:
    kind, value = action
    if kind == "write":
        yield value
    elif state == value:
        yield state


def step(
    began: int, ended: int, kind: str, value: int, *, certain: bool = True
) -> TimedOperation[Write]:
    return TimedOperation(began, ended, (kind, value), certain)


LEGAL = {
    "one after the other": [step(0, 1, "write", 1), step(2, 3, "read", 1)],
    "a read may be ordered before a write that overlaps it": [
        step(0, 9, "write", 1),
        step(1, 2, "read", 0),
        step(3, 4, "read", 1),
    ],
    "two writes that overlap, read the other way round": [
        step(0, 9, "write", 1),
        step(1, 8, "write", 2),
        step(10, 11, "read", 1),
    ],
    "one that raised took effect late": [
        step(0, 1, "write", 1, certain=False),
        step(2, 3, "read", 0),
        step(4, 5, "read", 1),
    ],
    "one that raised never took effect": [
        step(0, 1, "write", 1, certain=False),
        step(2, 3, "read", 0),
    ],
    "nothing at all": [],
}
ILLEGAL = {
    "a stale read": [step(0, 1, "write", 1), step(2, 3, "read", 0)],
    "back to the old value": [
        step(0, 9, "write", 1),
        step(1, 2, "read", 1),
        step(3, 4, "read", 0),
    ],
    "two readers see two writes in different orders": [
        step(0, 9, "write", 1),
        step(0, 9, "write", 2),
        step(10, 11, "read", 1),
        step(12, 13, "read", 2),
    ],
    "a value that nobody wrote": [step(0, 9, "write", 1), step(0, 9, "read", 3)],
    "one that raised, seen and then gone": [
        step(0, 1, "write", 1, certain=False),
        step(2, 3, "read", 1),
        step(4, 5, "read", 0),
    ],
}


@pytest.mark.parametrize("steps", LEGAL.values(), ids=LEGAL.keys())
def test_a_legal_history_has_an_order(steps: list[TimedOperation[Write]]) -> None:
    assert search(steps, 0, register) is SearchResult.LEGAL


@pytest.mark.parametrize("steps", ILLEGAL.values(), ids=ILLEGAL.keys())
def test_an_illegal_history_has_none(steps: list[TimedOperation[Write]]) -> None:
    assert search(steps, 0, register) is SearchResult.ILLEGAL


def test_a_search_that_is_cut_off_says_so() -> None:
    writes = [step(0, 99, "write", value) for value in range(1, 12)]
    impossible = [*writes, step(100, 101, "read", 99)]
    assert search(impossible, 0, register, most=500) is SearchResult.CUT_OFF


# --- histories -----------------------------------------------------------------------------------

PUT = Operation(OperationKind.PUT, 0, 1, tag=1)
AGAIN = Operation(OperationKind.PUT, 0, 1, tag=2_000)
BATCH = Operation(OperationKind.WRITES, 0, 1, tag=1_000, task=100, count=2)
GET = Operation(OperationKind.GET, 0, 1)
LATEST = Operation(OperationKind.LATEST, 0)
LIST = Operation(OperationKind.LIST, 0)
PUT_B = Operation(OperationKind.PUT, 2, 1, tag=1_000)
BATCH_B = Operation(OperationKind.WRITES, 2, 1, tag=1_001, task=2, count=2)
DELETE_B = Operation(OperationKind.DELETE, 2)
GET_B = Operation(OperationKind.GET, 2, 1)

FIRST = ShownTuple(1, ("p1",) * 3)
WHOLE = ShownTuple(1, ("p1",) * 3, ((100, ("w1000.0", "w1000.1")),))
PART = ShownTuple(1, ("p1",) * 3, ((100, ("w1000.0",)),))
SECOND = ShownTuple(1, ("p2000",) * 3)


def call(
    began: int,
    ended: int,
    operation: Operation,
    *shown: ShownTuple,
    error: str | None = None,
    phase: Phase = Phase.DURING,
) -> TimedCall:
    return TimedCall(0, operation, began, ended, error, shown, phase)


def before(operation: Operation) -> TimedCall:
    return call(-2, -1, operation, phase=Phase.BEFORE)


def after(operation: Operation, *shown: ShownTuple) -> TimedCall:
    return call(1_000, 1_001, operation, *shown, phase=Phase.AFTER)


HISTORIES = {
    "nothing wrong": (set(), [before(PUT), call(0, 1, BATCH), after(GET, WHOLE)]),
    "a batch is gone": ({THREADS}, [before(PUT), call(0, 1, BATCH), after(GET, FIRST)]),
    "a checkpoint is gone": ({THREADS}, [before(PUT), after(GET)]),
    "a checkpoint is listed twice": ({THREADS}, [before(PUT), after(LIST, FIRST, FIRST)]),
    "a part is gone": ({THREADS}, [before(PUT), call(0, 1, BATCH), after(GET, PART)]),
    "a part is seen": (
        {TORN},
        [before(PUT), call(0, 9, BATCH), call(1, 2, GET, PART), after(GET, WHOLE)],
    ),
    "parts of two puts": (
        {TORN},
        [
            before(PUT),
            call(0, 9, AGAIN),
            call(1, 2, GET, ShownTuple(1, ("p1", "p2000", "p1"))),
            after(GET, SECOND),
        ],
    ),
    "another checkpoint": ({TORN}, [before(PUT), call(0, 1, GET, ShownTuple(2, ("p1",) * 3))]),
    "an older put has the last word": (
        {THREADS},
        [before(PUT), call(0, 1, AGAIN), after(GET, FIRST)],
    ),
    "puts at the same time, in either order": (
        set(),
        [before(PUT), call(0, 9, AGAIN), call(1, 2, GET, FIRST), after(GET, SECOND)],
    ),
    "a stale read": (
        {ORDER},
        [before(PUT), call(0, 1, BATCH), call(2, 3, GET, FIRST), after(GET, WHOLE)],
    ),
    "a stale latest": (
        {ORDER},
        [
            before(PUT),
            call(0, 1, Operation(OperationKind.PUT, 0, 7, tag=1_000)),
            call(2, 3, LATEST, FIRST),
        ],
    ),
    "half of a deleted thread": (
        {TORN},
        [
            call(0, 1, PUT_B),
            call(2, 3, BATCH_B),
            call(4, 9, DELETE_B),
            call(5, 8, GET_B, ShownTuple(1, ("p1000",) * 3)),
        ],
    ),
    "a stale read before a thread is deleted": (
        {ORDER},
        [
            call(0, 1, PUT_B),
            call(2, 3, BATCH_B),
            call(4, 5, GET_B, ShownTuple(1, ("p1000",) * 3)),
            call(6, 9, DELETE_B),
        ],
    ),
    "a thread before it is deleted, and after": (
        set(),
        [
            call(0, 1, PUT_B),
            call(2, 3, BATCH_B),
            call(4, 9, DELETE_B),
            call(5, 6, GET_B, ShownTuple(1, ("p1000",) * 3, ((2, ("w1001.0", "w1001.1")),))),
            call(7, 8, GET_B),
        ],
    ),
    "an error where a thread is deleted": (
        {TORN},
        [call(0, 1, PUT_B), call(4, 9, DELETE_B), call(5, 8, GET_B, error="KeyError")],
    ),
    "an error": ({THREADS}, [before(PUT), call(0, 1, BATCH, error="no"), after(GET, FIRST)]),
}


@pytest.mark.parametrize(("contracts", "events"), HISTORIES.values(), ids=HISTORIES.keys())
def test_a_history_is_blamed_on_what_it_breaks(
    contracts: set[str], events: list[TimedCall]
) -> None:
    assert judge_history(events, shared=True).broken() == contracts


def test_a_checkpoint_below_another_puts_parent_is_told() -> None:
    below = Operation(OperationKind.PUT, 0, 12, tag=7, parent=2)
    read = Operation(OperationKind.GET, 0, 12)
    for parent, told in ((None, []), (2, []), (1, [WRONG_PARENT]), (0, [WRONG_PARENT])):
        shown = ShownTuple(12, below.parts, parent=parent)
        judged = judge_history([call(0, 1, below), call(2, 3, read, shown)], shared=True)
        assert [problem.sort for problem in judged.problems] == told


def test_errors_between_processes_are_advice_unless_they_took_effect() -> None:
    raised = [before(PUT), call(0, 1, BATCH, error="database is locked")]
    clean = judge_history([*raised, after(GET, FIRST)], shared=False)
    assert (clean.broken(), clean.raised) == (set(), 1)
    assert judge_history([*raised, after(GET, WHOLE)], shared=False).broken() == {PROCESSES}


def test_only_the_events_that_show_it_are_told() -> None:
    noise = [call(n, n + 1, GET, FIRST) for n in range(10, 20, 2)]
    events = [before(PUT), *noise, call(30, 31, BATCH), call(40, 41, GET, FIRST)]
    (problem,) = judge_history(events, shared=True).problems
    assert [
        event.began for event in problem.events if event.operation.kind is OperationKind.GET
    ] == [40]


def test_what_nobody_was_shown_is_not_told() -> None:
    noise = [
        call(n, n + 1, Operation(OperationKind.WRITES, 0, 1, tag=n * 1_000, task=n, count=2))
        for n in range(10, 20, 2)
    ]
    events = [before(PUT), *noise, call(30, 31, BATCH), call(40, 41, GET, FIRST)]
    (problem,) = judge_history(events, shared=True).problems
    assert [event.began for event in problem.events] == [-2, 30, 40]


def test_problems_of_sorts_that_are_known_are_put_aside() -> None:
    events = [
        before(PUT),
        call(0, 1, BATCH),
        call(2, 3, GET, FIRST),
        call(4, 5, LIST, WHOLE, WHOLE),
        after(GET, WHOLE),
    ]
    (twice,) = judge_history(events, shared=True).problems
    assert twice.contract == THREADS
    judged = judge_history(events, shared=True, known={twice.sort})
    assert (judged.broken(), judged.known) == ({ORDER}, [twice])
    (stale,) = judged.problems
    assert not judge_history(events, shared=True, known={twice.sort, stale.sort}).problems


def test_sorts_of_problems_are_without_places_numbers_and_errors() -> None:
    said = ("some of task 7's writes are gone, at thread 'a'", "put raised KeyError: 'x 1'")
    sorts = [Problem(THREADS, summary, "", "").sort for summary in said]
    assert sorts == ["some of task #'s writes are gone", "put raised KeyError"]


def test_what_a_saver_does_alone_is_no_flaw_between_callers() -> None:
    """A saver that keeps the first of two puts, and the last of two batches, is wrong elsewhere."""
    later = Operation(OperationKind.WRITES, 0, 1, tag=2_000, task=100, count=2)
    kept = ShownTuple(1, ("p1",) * 3, ((100, ("w2000.0", "w2000.1")),))
    events = [
        before(PUT),
        call(0, 1, AGAIN),
        call(2, 3, BATCH),
        call(4, 5, later),
        after(GET, kept),
    ]
    semantics = semantics_of(events)
    assert semantics == Semantics(replaces=False, first_stays=False)
    assert judge_history(events, shared=True, semantics=semantics).broken() == set()


def test_events_survive_the_journey_between_processes() -> None:
    event = call(1, 2, LIST, WHOLE, error=None, phase=Phase.AFTER)
    assert decode(TimedCall, encode(event)) == event
