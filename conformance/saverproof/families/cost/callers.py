"""Counts how many callers of a saver reach its database at once, if it has a pool for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.tables.cost import CALLERS_AT_ONCE
from saverproof.errors import describe
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.asked_saver import AskedSaver
from saverproof.families.chain import Chain
from saverproof.families.cost.caller_scripts import reproducer
from saverproof.families.cost.pools import room_of
from saverproof.families.drivers import declared, with_loaded
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target
from saverproof_faults.counters import Meetings, Met

MOST = 4
"""The most callers at once, if the pool has room for them. Two would be enough to show one lock."""
_ROUNDS, _ALIKE = 6, 2
"""The most rounds of calls, and how many of them have to show that the callers wait for each other.
A round in which the pool opened a connection shows nothing.
"""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """The number of ``callers`` that reached the database at the same time, with a pool that has
    ``room``.

    There are no callers if the saver has no pool. ``trouble`` says why nothing is known.
    """

    room: int
    callers: int = 0
    at_once: int = 0
    trouble: str = ""

    @property
    def in_line(self) -> bool:
        """True if the callers wait for each other."""
        return self.room > 1 and not self.trouble and self.at_once == 1

    @property
    def in_words(self) -> str:
        """The result in one line."""
        return (
            f"{self.at_once} of {self.callers} callers of get_tuple reaches the database at a "
            f"time, although its pool has room for {self.room:,} connections"
        )


def judge_callers(seen: AtOnce, plan: ItemPlan, target: Target, tally: Tally) -> None:
    """Judge ``CALLERS_AT_ONCE`` by what was seen."""
    contract = CALLERS_AT_ONCE.id
    one_record = plan.facts["absent"].get(Capability.SEPARATE_RECORDS)
    if seen.room < 2:
        tally.rule_out(contract, "the saver refers to no pool of two connections or more")
    elif seen.trouble:
        tally.unsure([contract], seen.trouble)
    elif not seen.at_once:
        tally.not_exercised([contract], "no call of a known driver was seen while callers met")
    elif seen.in_line and one_record:
        reason = f"{Capability.SEPARATE_RECORDS}: {one_record}"
        tally.rule_out(contract, f"{reason}; measured: {seen.in_words}")
    else:
        tally.agreed(contract, seen.callers)
        if seen.in_line:
            tally.differences.note(contract)
            tally.findings.append(_finding(plan, target, seen))


def replay_callers(plan: ItemPlan, target: Target, data: Any) -> ReplayAnswer:
    """Return whether callers still wait for each other.

    Raises:
        ValueError: the data was not recorded of callers.
    """
    if not isinstance(data, dict) or not isinstance(data.get("callers"), int):
        raise ValueError(f"found {data!r:.60}, expected an object with callers")
    seen = counted(plan, target)
    if seen.room < 2 or seen.trouble or not seen.at_once:
        return unclear(seen.trouble or "no pool of two connections is seen in use any more")
    if seen.in_line:
        return ReplayAnswer(Status.FAILING, seen.in_words, _expected(seen), str(seen.at_once))
    return ReplayAnswer(Status.FIXED, f"{seen.at_once} of {seen.callers} callers at once")


def counted(plan: ItemPlan, target: Target) -> AtOnce:
    """Call the saver by several callers, if it has a pool.

    Raises:
        OpeningError: the saver could not be opened or closed.
    """
    # This also loads the driver, whose calls are to be held.
    with (
        EventLoop() as loop,
        Store(target, Path(plan.folder), loop, (plan.api,)) as store,
    ):
        room = room_of(store.saver)
    if room < 2:
        return AtOnce(room)
    with (
        Meetings(with_loaded(declared(target)[0])) as meetings,
        # Coroutines of all callers run on one loop, which is none of the callers' threads.
        EventLoop() as loop,
        Store(target, Path(plan.folder), loop, (plan.api,)) as store,
    ):
        saver = AskedSaver(store)
        try:
            places = [_place(saver, number) for number in range(min(room, MOST))]
            return _seen(meetings, saver, places, room)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            return AtOnce(room, trouble=f"called by several, {describe(error)}")


def _place(saver: AskedSaver, number: int) -> Any:
    chain = Chain(saver, f"caller-{number}")
    chain.step()
    return chain.place


def _seen(meetings: Meetings, saver: AskedSaver, places: Sequence[Any], room: int) -> AtOnce:
    calls = [partial(saver.get_tuple, place) for place in places]
    alike, most = 0, 0
    for _ in range(_ROUNDS):
        before = _descriptors()
        met = meetings.of(calls)
        if met.errors:
            raise met.errors[0]
        most = max(most, met.at_once)
        if most > 1:
            break
        alike += _shows_waiting(met, before)
        if alike == _ALIKE:
            break
    else:
        return AtOnce(room, len(places), trouble="its callers, and its pool, did not come to rest")
    return AtOnce(room, len(places), most)


def _shows_waiting(met: Met, descriptors_before: int) -> bool:
    return met.came_to_rest and _descriptors() == descriptors_before


def _descriptors() -> int:
    """Return how many descriptors this process has open, connections included."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0


def _expected(seen: AtOnce) -> str:
    return f"up to {seen.callers} of {seen.callers} callers at a time"


def _finding(plan: ItemPlan, target: Target, seen: AtOnce) -> Finding:
    return Finding(
        contract=CALLERS_AT_ONCE.id,
        api=plan.api,
        phase="cost",
        summary=seen.in_words,
        expected=_expected(seen),
        observed=f"{seen.at_once} at a time; the others wait until that one has its answer",
        steps=(
            f"put a checkpoint in each of {seen.callers} threads",
            f"call get_tuple for all {seen.callers} at once, and hold each at its first call of "
            "the database driver until nothing moves any more",
        ),
        program={"callers": seen.callers},
        reproducer=reproducer(target, seen.callers, plan.api),
    )
