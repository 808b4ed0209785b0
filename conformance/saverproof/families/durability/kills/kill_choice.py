"""Chooses the places at which a program is killed, if there are too many to try all.

Each operation is killed right after each of its commits, between two commits, after it has cut or
removed a file, after its last action, and after it has returned. The remaining kills are spread
over the kinds of operations and their phases.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise
from random import Random
from statistics import mode
from typing import TypeAlias, TypeVar

from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.programs.small import OPERATIONS
from saverproof.programs.steps.definitions import Program, Put, PutWrites
from saverproof_faults import Event, Moment

T = TypeVar("T")
_SURE_SHARE = 2 / 3
"""The largest share of the kills for the phases that are never left out."""


class KillPhase(StrEnum):
    """The phases of an operation, from its beginning until after its return."""

    BEFORE_FIRST = "before the first statement"
    BETWEEN = "between statements"
    IN_COMMIT = "inside a commit"
    BETWEEN_COMMITS = "after a commit, and before another"
    AFTER_COMMIT = "after the last commit"
    AFTER_LOSS = "after a file was cut or removed, and before what follows"
    IN_IO = "before an I/O call"
    AFTER_LAST = "after the last statement"
    RETURNED = "after it has returned"


SURE = frozenset(
    (
        KillPhase.BETWEEN_COMMITS,
        KillPhase.AFTER_COMMIT,
        KillPhase.AFTER_LOSS,
        KillPhase.AFTER_LAST,
        KillPhase.RETURNED,
    )
)
"""The phases in which work that was acknowledged, or soon will be, is most easily lost or torn."""
_FIRST = frozenset((KillPhase.BETWEEN_COMMITS, KillPhase.AFTER_LOSS))
_SAVING = ("fsync()", "fdatasync()", "replace()", "rename()", "close()")
"""The calls by which a saver on plain files commits."""
_SAVING_FILES = ("sync ", "rename ")
"""The system calls by which a saver on plain files commits: they are done before the next call."""

_LOSING_FILES = ("truncate ", "delete ")
"""The system calls by which a saver on plain files takes something away."""


@dataclass(frozen=True, slots=True)
class PhasedPlace:
    """A place, the operation that is under way there, and the phase of that operation.

    ``replacing`` says that the operation stores again what is already there. ``commits`` is the
    number of commits that the operation has ended by then; opening has many, and counts none.
    """

    place: KillPlace
    operation: str
    phase: KillPhase
    replacing: bool = False
    commits: int = 0


def operation_at(place: KillPlace, program: Program) -> str:
    """Return what is under way at a place: an operation, "opening" or "closing"."""
    if place.operation == OPENING:
        return "opening"
    if place.operation >= len(program):
        return "closing"
    return OPERATIONS[type(program[place.operation])]


def phased(places: Sequence[KillPlace], program: Program) -> Iterator[PhasedPlace]:
    """Return the places of a program with their phases."""
    ordered = sorted(places, key=lambda place: (place.operation, place.kind, place.index))
    again = _stored_again(program)
    for _, group in groupby(ordered, key=lambda place: (place.operation, place.kind)):
        same = [*group]
        ends = () if same[0].operation == OPENING else _ends_of_commits(same)
        for number, (place, phase) in enumerate(zip(same, _phases(same), strict=True)):
            replacing, commits = place.operation in again, bisect_right(ends, number)
            yield PhasedPlace(place, operation_at(place, program), phase, replacing, commits)


def _stored_again(program: Program) -> frozenset[int]:
    """Return the positions of puts and batches that store again what an earlier one has stored.

    Between two transactions, such a call may have removed what it replaces; a first put has nothing
    to lose.
    """
    found: set[int] = set()
    stored: set[tuple[str, str, int, int]] = set()
    for position, step in enumerate(program):
        if isinstance(step, Put | PutWrites):
            task = step.task if isinstance(step, PutWrites) else 0
            what = (step.thread, step.namespace, step.number, task)
            found |= {position} if what in stored else set()
            stored.add(what)
    return frozenset(found)


def _phases(places: Sequence[KillPlace]) -> list[KillPhase]:
    """Return the phases of the places of one kind in one operation."""
    kind, last = places[0].kind, len(places) - 1
    if kind is PlaceKind.ACKNOWLEDGED:
        return [KillPhase.RETURNED for _ in places]
    usual = KillPhase.IN_IO if kind is PlaceKind.IO else KillPhase.BETWEEN
    phases = [
        KillPhase.IN_COMMIT if place.event == Event.TRANSACTION else usual for place in places
    ]
    phases[last] = KillPhase.AFTER_LAST
    if kind is not PlaceKind.IO:
        phases[0] = KillPhase.BEFORE_FIRST
    ends = _ends_of_commits(places)
    for first, following in pairwise(ends):
        # Up to the commit that follows, whose end is not between the two.
        phases[first:following] = [KillPhase.BETWEEN_COMMITS] * (following - first)
    if ends:
        phases[ends[-1]] = KillPhase.AFTER_COMMIT
    for number, place in enumerate(places[:-1], start=1):
        if kind is PlaceKind.SYSTEM_CALL and place.about.startswith(_LOSING_FILES):
            phases[number] = KillPhase.AFTER_LOSS
    return phases


def _ends_of_commits(places: Sequence[KillPlace]) -> list[int]:
    """Return the positions in the list at which a commit has just ended."""
    ends: list[int] = []
    committing = False
    for number, place in enumerate(places):
        saves = place.kind is PlaceKind.CALL and place.about.endswith(_SAVING)
        if place.kind is PlaceKind.SYSTEM_CALL and place.about.startswith(_SAVING_FILES):
            ends += [number + 1] if number + 1 < len(places) else []
        if place.moment == Moment.AFTER and (committing or saves):
            ends.append(number)
        committing = place.event == Event.TRANSACTION or (
            committing and place.moment != Moment.AFTER
        )
    return ends


def busiest(places: Sequence[KillPlace], program: Program) -> list[KillPlace]:
    """Return the places of puts that store something again, and pass more places than most of these
    puts: a saver tidies up in them, perhaps.
    """
    again = _stored_again(program)
    of_puts = [place for place in places if place.operation in again]
    passed = Counter((place.kind, place.operation) for place in of_puts)
    usual = {
        kind: mode(passed[kind, operation] for operation in again)
        for kind in {place.kind for place in of_puts}
    }
    return [p for p in of_puts if passed[p.kind, p.operation] > usual[p.kind]]


Owned: TypeAlias = tuple[T, PhasedPlace]
"""A place of one of several programs, with the program's key."""


def chosen(places: Sequence[Owned[T]], most: int, choose: Random) -> list[Owned[T]]:
    """Return all places, or ``most`` of them, beginning with the phases that are never left out."""
    if len(places) <= most:
        return [*places]
    sure = [one for one in places if one[1].phase in SURE]
    rest = [one for one in places if one[1].phase not in SURE]
    kept = _in_turn(sure, int(most * _SURE_SHARE), choose)
    return [*kept, *_in_turn(rest, most - len(kept), choose)]


def _in_turn(places: Sequence[Owned[T]], most: int, choose: Random) -> list[Owned[T]]:
    """Return ``most`` random places, one of each operation and phase in turn. Places between two
    commits, or after a loss, come first: only operations that can be torn have them. Of these there
    is one between any two commits in turn.
    """
    strata: dict[tuple[str, bool, KillPhase, int], list[Owned[T]]] = {}
    for one in choose.sample(places, len(places)):
        at = one[1]
        commits = at.commits if at.phase in _FIRST else 0
        strata.setdefault((at.operation, at.replacing, at.phase, commits), []).append(one)
    taken: list[Owned[T]] = []
    while len(taken) < most and strata:
        for stratum in sorted(strata, key=lambda key: key[2] not in _FIRST):
            taken.append(strata[stratum].pop())
            if not strata[stratum]:
                del strata[stratum]
    return taken[:most]
