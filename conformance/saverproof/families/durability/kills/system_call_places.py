"""Counts places at system calls on a store's files, and at messages to its server. A process that
is forked from this one kills it at a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Self

from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.place_watch import PlaceWatch
from saverproof_faults.kill import Acks
from saverproof_faults.kill.process import threads
from saverproof_faults.syscalls import (
    NETWORK,
    CallFailure,
    CallFault,
    CallKind,
    ForkedCallWatch,
    SystemCall,
    can_fail,
)

MOMENTS = {"before": CallFailure.KILLED, "within": CallFailure.KILLED_WRITING}


class SystemCallPlaces(PlaceWatch):
    """The places before each system call, between two pages of each write, and before each
    message.
    """

    def __init__(self, folder: str, place: KillPlace | None, acks: Acks) -> None:
        super().__init__(place)
        self._watch = ForkedCallWatch(folder, acks.counted)
        self._counting: AbstractContextManager[list[SystemCall]] | None = None
        self._calls: list[SystemCall] = []

    def __enter__(self) -> Self:
        # A process with more threads cannot be forked, nor be covered in all of them.
        if threads() == 1:
            self.exit.enter_context(self._watch)
            self._watch.cover()
            self.begin(OPENING)
        return self

    def begin(self, operation: int) -> None:
        if not self._watch.supervisor:
            return
        if self.place is None:
            self.end()
            self._counting = self._watch.counting()
            self._calls = self._counting.__enter__()
        elif self.place.operation == operation:
            self._watch.arm(CallFault(self.place.index, failure_at(self.place)))
        super().begin(operation)

    def end(self) -> None:
        if self._counting is not None:
            self._counting.__exit__(None, None, None)
            self._counting = None
            self.found += _places(self.operation, self._calls)


def failure_at(place: KillPlace) -> CallFailure:
    """Return the failure of a system call or message by which the supervisor kills the process at a
    place.
    """
    is_message = place.kind is PlaceKind.MESSAGE
    return CallFailure.KILLED_SENDING if is_message else MOMENTS[place.moment]


def _places(operation: int, calls: Sequence[SystemCall]) -> Iterator[KillPlace]:
    for index, call in enumerate((call for call in calls if call.kind in NETWORK), start=1):
        yield KillPlace(PlaceKind.MESSAGE, operation, index, about=str(call)[:80])
    yield from (
        KillPlace(PlaceKind.SYSTEM_CALL, operation, index, moment=moment, about=str(call)[:80])
        for index, call in enumerate((call for call in calls if call.kind not in NETWORK), start=1)
        # Nothing has changed since the call before a read.
        if call.kind is not CallKind.READ
        for moment, failure in MOMENTS.items()
        if can_fail(call, failure)
    )
