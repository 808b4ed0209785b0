"""Histories in which someone tidies up while runs go on, as data. They consist of rounds, each with
a thread of its own.

In each round a run goes on with its thread, one operation on the whole thread is called once beside
it, and others read. What a right store holds at the end depends only on the moment at which the
operation took effect.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from saverproof.capability import Capability
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    MOST_ROUNDS,
    PLACES_OF_A_ROUND,
    Operation,
    OperationKind,
    copy_of,
    round_of,
)
from saverproof.families.concurrency.callers.workload import FIRST_OWN_TASK, TAGS_EACH

SCENE = "upkeep"

OLD, NEW = 2, 3
"""The numbers of the newest checkpoint when a round begins, and of the first one that is put in
it.
"""

BATCH = 3
_LONG_RUN = 5

_EARLY_TASKS = 3
"""How many tasks write before a checkpoint of a run is put. A prune that takes early writes for
left-overs shows only if it comes between one of them and the put.

Measured with four histories, as in the default profile: with one task half of the runs missed it.
"""

NEEDS = {
    OperationKind.PRUNE: Capability.PRUNE,
    OperationKind.PRUNE_ALL: Capability.PRUNE,
    OperationKind.COPY: Capability.COPY_THREAD,
    OperationKind.DELETE: Capability.DELETE_THREAD,
    OperationKind.DELETE_RUN: Capability.DELETE_FOR_RUNS,
}
"""The capability that each operation needs; ``setup`` needs none."""

KINDS = (
    OperationKind.PRUNE,
    OperationKind.COPY,
    OperationKind.DELETE,
    OperationKind.DELETE_RUN,
    OperationKind.PRUNE,
    OperationKind.COPY,
    OperationKind.PRUNE_ALL,
    OperationKind.DELETE_RUN,
    OperationKind.DELETE,
    OperationKind.SETUP,
)
"""The operations that the rounds of one history call in turn."""

WHOLE_THREADS = frozenset({OperationKind.DELETE, OperationKind.PRUNE_ALL})
"""The operations that delete a thread with which a run goes on."""
DELETING = WHOLE_THREADS | {OperationKind.DELETE_RUN}


@dataclass(frozen=True, slots=True)
class Round:
    """One thread of a history: the operation on the whole of it, and what its run put before and
    puts beside that.
    """

    kind: OperationKind
    place: int
    before: tuple[Operation, ...]
    run: tuple[Operation, ...]
    keeper: tuple[Operation, ...]
    reader: tuple[Operation, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the thread and of its copy."""
        own = (self.place, self.place + 1)
        return (*own, *map(copy_of, own)) if self.kind is OperationKind.COPY else own

    @property
    def after(self) -> tuple[Operation, ...]:
        """The questions that are asked at the end."""
        listed = [Operation(OperationKind.LIST, place) for place in self.places]
        return (*listed, Operation(OperationKind.LATEST, self.place))


def rounds_of(seed: str, able: Collection[str], *, early: bool) -> tuple[Round, ...]:
    """Return the rounds of a history for a saver with these capabilities and operations.

    ``early`` says whether writes may arrive before their checkpoint.
    """
    kinds = [kind for kind in KINDS if kind is OperationKind.SETUP or NEEDS[kind] in able]
    choose = Random(seed)
    return tuple(
        _round(kind, number, choose, early) for number, kind in enumerate(kinds[:MOST_ROUNDS])
    )


def rounds_in(
    before: Sequence[Operation],
    run: Sequence[Operation],
    keeper: Sequence[Operation],
    reader: Sequence[Operation],
) -> tuple[Round, ...]:
    """Return the rounds that the calls of a history form."""

    def those_of(made: Sequence[Operation], number: int) -> tuple[Operation, ...]:
        return tuple(one for one in made if round_of(one.place) == number)

    return tuple(
        Round(
            one.kind,
            one.place,
            *(those_of(part, round_of(one.place)) for part in (before, run, keeper, reader)),
        )
        for one in keeper
        if one.kind.maintains
    )


def _round(kind: OperationKind, number: int, choose: Random, early: bool) -> Round:
    place = FIRST_OF_ROUNDS + PLACES_OF_A_ROUND * number
    both = kind in (OperationKind.COPY, OperationKind.DELETE, OperationKind.PRUNE_ALL)
    # After a deletion, what has not changed may be gone: that is for late writers to tell.
    carries = kind in (OperationKind.PRUNE, OperationKind.SETUP)
    reads = (Operation(OperationKind.LATEST, place),) * choose.randint(0, 2)
    # If a run is deleted, the other one has not begun to put: it reads the thread first.
    first, late = (reads, ()) if kind is OperationKind.DELETE_RUN else ((), reads)
    asked = (
        OperationKind.LATEST,
        OperationKind.GET,
        OperationKind.LIST,
        OperationKind.LATEST,
        OperationKind.GET,
    )
    newest = choose.choice((OLD, NEW))
    return Round(
        kind,
        place,
        _before(place, number, carries=carries, both=both),
        (*first, *_run(place, number, carries=carries, both=both, early=early)),
        (*late, Operation(kind, place, run=_old_run(number))),
        tuple(
            Operation(one, place, newest if one is OperationKind.GET else 0)
            for one in asked[: choose.randint(3, len(asked))]
        ),
    )


def _before(place: int, number: int, *, carries: bool, both: bool) -> tuple[Operation, ...]:
    """Return two checkpoints and their writes, of a run that is over."""
    made: list[Operation] = []
    for where in (place, place + 1) if both else (place,):
        for at in (1, OLD):
            carried = carries and at == OLD
            made.append(
                Operation(OperationKind.PUT, where, at, at, carries=carried, run=_old_run(number))
            )
            made.append(Operation(OperationKind.WRITES, where, at, 10 + at, at, BATCH))
    return tuple(made)


def _run(
    place: int, number: int, *, carries: bool, both: bool, early: bool
) -> tuple[Operation, ...]:
    """Return what a run puts: new checkpoints, and the writes of their tasks."""
    made: list[Operation] = []

    def put(where: int, at: int) -> None:
        tag = TAGS_EACH + len(made)
        made.append(
            Operation(
                OperationKind.PUT,
                where,
                at,
                tag,
                parent=at - 1,
                carries=carries,
                run=_new_run(number),
            )
        )

    def write(where: int, at: int) -> None:
        tag = TAGS_EACH + len(made)
        made.append(
            Operation(OperationKind.WRITES, where, at, tag, FIRST_OWN_TASK + tag % 50, BATCH)
        )

    for at in range(NEW, NEW + (2 if both else _LONG_RUN - 2)):
        if early and at > NEW:
            # Before their checkpoint, as they come of a run that saves in the background.
            for _ in range(_EARLY_TASKS):
                write(place, at)
        for where in (place, place + 1) if both else (place,):
            put(where, at)
            write(where, at)
    return tuple(made)


def _old_run(number: int) -> str:
    return f"a run that is over, of thread {number}"


def _new_run(number: int) -> str:
    return f"a run that goes on, of thread {number}"


def alone_in(rounds: Sequence[Round]) -> tuple[Operation, ...]:
    """Return the same calls for one caller. The operation on the whole thread comes after the first
    calls of the run.
    """
    made: list[Operation] = []
    for one in rounds:
        made += (*one.run[:2], *one.keeper, *one.run[2:], *one.reader)
    return tuple(made)
