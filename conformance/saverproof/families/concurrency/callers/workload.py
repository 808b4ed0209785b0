"""Draws what several callers do at once: random operations on the same keys, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from saverproof.families.concurrency.callers.records import Operation, OperationKind

LONGEST = 15
"""The most calls of one caller."""

MOST_CALLERS = 6

KNOWN = (1, 2)
"""The checkpoints that every place holds before the callers begin."""

_FIRST_NEW = 10
FIRST_OWN_TASK = 100
TAGS_EACH = 1_000
_RUN = 3

Role = Mapping[OperationKind, int]
"""The weights of the operations of a caller."""


@dataclass(frozen=True, slots=True)
class WorkloadTheme:
    """The subject of a workload: the roles of its callers (the first role for the first caller, and
    so on), the places that they use, and the length of their batches.
    """

    name: str
    roles: tuple[Role, ...]
    places: tuple[int, ...] = (0,)
    batch: int = _RUN
    again: float = 0.5
    """The share of puts that store an existing checkpoint again."""
    rivals: float = 0.3
    """The share of batches whose task all callers write in the same turn."""
    in_step: bool = False
    """True if all callers wait for each other before every call."""
    in_rounds: bool = False
    """True if all callers wait for each other before the first call on each thread."""


MIXED = WorkloadTheme(
    "everything",
    (
        {
            OperationKind.PUT: 3,
            OperationKind.WRITES: 4,
            OperationKind.GET: 3,
            OperationKind.LATEST: 2,
            OperationKind.LIST: 1,
        },
    ),
    places=(0, 1),
)
WRITES = WorkloadTheme(
    "pending writes",
    ({OperationKind.WRITES: 6, OperationKind.GET: 4, OperationKind.LIST: 1},),
    in_step=True,
)
RIVALS = WorkloadTheme(
    "rivals", ({OperationKind.WRITES: 5, OperationKind.GET: 1},), rivals=1.0, in_step=True
)
PUTS = WorkloadTheme(
    "checkpoints",
    ({OperationKind.PUT: 5, OperationKind.GET: 2, OperationKind.LATEST: 4},),
    again=0.4,
)
LONG = WorkloadTheme(
    "a long write",
    ({OperationKind.WRITES: 1}, {OperationKind.GET: 5, OperationKind.LIST: 1}),
    batch=25,
    rivals=0.0,
)
FOLLOWING = WorkloadTheme(
    "one writes, one reads",
    (
        {OperationKind.PUT: 2, OperationKind.WRITES: 1},
        {OperationKind.LATEST: 2, OperationKind.GET: 1},
    ),
    again=0.3,
    in_step=True,
)
DELETING = WorkloadTheme(
    "a thread deleted",
    ({OperationKind.DELETE: 1}, {OperationKind.GET: 3, OperationKind.LIST: 1}),
    places=(2,),
    in_step=True,
)
"""A theme whose first caller puts a checkpoint, adds writes and deletes the thread, over and
over.
"""

UPKEEP = WorkloadTheme("upkeep beside runs", (), in_rounds=True)
"""The theme of histories of upkeep, whose calls are made elsewhere."""

THEMES_BY_NAME = {
    theme.name: theme for theme in (MIXED, WRITES, RIVALS, PUTS, LONG, FOLLOWING, DELETING, UPKEEP)
}


@dataclass(frozen=True, slots=True)
class Able:
    """The abilities of a saver that change what histories may ask of it."""

    history: bool = True
    deletes: bool = True
    deletes_runs: bool = True
    prunes: bool = True

    @property
    def known(self) -> tuple[int, ...]:
        """The checkpoints that are stored before the callers begin."""
        return KNOWN if self.history else KNOWN[:1]


def able_of(capabilities: Iterable[str]) -> Able:
    """Return the abilities that histories may rely on, for a saver with these capabilities."""
    there = {*capabilities}
    return Able(
        "history" in there,
        "delete_thread" in there,
        "delete_for_runs" in there,
        "prune" in there,
    )


def prologue(theme: WorkloadTheme, able: Able) -> tuple[Operation, ...]:
    """Return the calls that are made before the callers begin."""
    if theme is DELETING:
        return ()
    return tuple(
        Operation(OperationKind.PUT, place, number, tag=place * 10 + number)
        for place in theme.places
        for number in able.known
    )


def drawn(
    theme: WorkloadTheme, able: Able, seed: str, caller: int, callers: int, length: int
) -> tuple[Operation, ...]:
    """Return the random operations of one of several callers."""
    role = theme.roles[min(caller, len(theme.roles) - 1)]
    if theme is DELETING:
        length = LONGEST
    if OperationKind.DELETE in role:
        return _deleting(theme, caller, length)
    choose = Random(f"{seed}:{caller}")
    kinds, weights = list(role), list(role.values())
    return tuple(
        _operation(choose.choices(kinds, weights)[0], theme, able, choose, (caller, callers, turn))
        for turn in range(length)
    )


def _operation(
    kind: OperationKind,
    theme: WorkloadTheme,
    able: Able,
    choose: Random,
    turn: tuple[int, int, int],
) -> Operation:
    caller, callers, number = turn
    tag = (caller + 1) * TAGS_EACH + number
    place = choose.choice(theme.places)
    known = KNOWN[0] if theme is DELETING else choose.choice(able.known)
    if kind is OperationKind.PUT:
        if not able.history or choose.random() < theme.again:
            return Operation(kind, place, known, tag)
        # Those of several callers interleave, so that ids arrive out of order.
        new = _FIRST_NEW + number * callers + caller
        return Operation(kind, place, new, tag, parent=able.known[new % len(able.known)])
    if kind is OperationKind.WRITES:
        rival = choose.random() < theme.rivals
        task = 1 + number if rival else FIRST_OWN_TASK * (caller + 1) + number
        # Rivals meet at one checkpoint.
        return Operation(kind, place, able.known[0] if rival else known, tag, task, theme.batch)
    if kind is OperationKind.GET:
        return Operation(kind, place, known)
    return Operation(kind, place)


def _deleting(theme: WorkloadTheme, caller: int, length: int) -> tuple[Operation, ...]:
    place, made = theme.places[0], []
    for turn in range(length):
        tag = (caller + 1) * TAGS_EACH + turn
        match turn % 3:
            case 0:
                made.append(Operation(OperationKind.PUT, place, KNOWN[0], tag))
            case 1:
                made.append(
                    Operation(OperationKind.WRITES, place, KNOWN[0], tag, 1 + turn, theme.batch)
                )
            case _:
                made.append(Operation(OperationKind.DELETE, place))
    return tuple(made)


def parent_of(put: Operation) -> int:
    """Return the number of a put's parent, 0 for the first checkpoint."""
    return 0 if put.number == KNOWN[0] else put.parent or KNOWN[0]


def version_of(operation: Operation) -> int:
    """Return the number of the version that the channels of a put have, counted from 0 among the
    saver's versions.

    No two puts share a version. The first versions belong to the first checkpoint, which is
    everyone's parent.
    """
    caller, turn = divmod(operation.tag, TAGS_EACH)
    later = 0 if operation.number == KNOWN[0] else VERSIONS // 2
    return later + caller * LONGEST + min(turn, LONGEST - 1 if caller else 0)


VERSIONS = 2 * (MOST_CALLERS + 1) * LONGEST
"""How many versions there are for the puts of a history."""


def epilogue(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Return the questions at the end: every checkpoint by its id, every listing, and the latest of
    each place.
    """
    places = sorted({made.place for made in operations})
    stored = sorted(
        {(made.place, made.number) for made in operations if made.kind is OperationKind.PUT}
    )
    return (
        *(Operation(OperationKind.GET, place, number) for place, number in stored),
        *(Operation(OperationKind.LATEST, place) for place in places),
        *(Operation(OperationKind.LIST, place) for place in places),
    )
