"""Plays and judges histories: of threads or tasks, of several savers, and of several processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from saverproof.families.concurrency.callers import child
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.callers.schedules import Schedule, schedule_of
from saverproof.families.concurrency.callers.watching import LOCK_PATIENCE_S
from saverproof.families.concurrency.callers.workload import (
    DELETING,
    FOLLOWING,
    LONG,
    MIXED,
    PUTS,
    RIVALS,
    WRITES,
    Able,
    WorkloadTheme,
    drawn,
    epilogue,
    prologue,
)
from saverproof.families.concurrency.contract_ids import PROCESSES, THREADS
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.histories import lockheld
from saverproof.families.concurrency.record import Problem
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import DiedBy, TrialResult, View

PAUSE_BETWEEN_PROCESSES_S = 0.004


class Sharing(StrEnum):
    """The ways in which callers share the store."""

    SHARED = "one saver"
    INSTANCES = "several savers on one store"
    PROCESSES = "several processes"
    LOCKED = "two processes, one of which holds the lock for a while"


PATIENCE_S = {
    Sharing.SHARED: 4.0,
    Sharing.INSTANCES: LOCK_PATIENCE_S,
    Sharing.PROCESSES: LOCK_PATIENCE_S,
    Sharing.LOCKED: LOCK_PATIENCE_S,
}
"""Seconds without progress before a history counts as hung."""

AT_ONCE = {Sharing.SHARED: 5, Sharing.INSTANCES: 5, Sharing.PROCESSES: 2}
"""How many histories may be played side by side: the harness runs eight processes at once.

Only histories whose stores share nothing are: a server has a limited number of connections.
"""

THEMES = {
    Sharing.SHARED: (RIVALS, DELETING, WRITES, MIXED, DELETING, LONG, PUTS, RIVALS),
    Sharing.INSTANCES: (FOLLOWING, WRITES, PUTS, MIXED, RIVALS),
    Sharing.PROCESSES: (FOLLOWING, WRITES, PUTS, MIXED),
}
"""The themes of each kind of history, in the order in which they are played."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A history to be played, as data."""

    sharing: Sharing
    theme: WorkloadTheme
    schedule: Schedule
    before: tuple[Operation, ...]
    callers: tuple[tuple[Operation, ...], ...]
    asked: tuple[Operation, ...] = ()
    """The final questions, if they differ from those that belong to the history's calls."""
    reads_beside: bool = False
    """True if another caller of each process reads while its calls are made."""

    @property
    def after(self) -> tuple[Operation, ...]:
        """The questions that are asked at the end."""
        return self.asked or epilogue(
            (*self.before, *(one for made in self.callers for one in made))
        )

    def by_one(self, made: tuple[Operation, ...]) -> CallPlan:
        """Return a plan in which one caller makes these calls, one after the other."""
        schedule = Schedule(self.schedule.seed)
        return CallPlan(Sharing.SHARED, self.theme, schedule, self.before, (made,), self.asked)

    def arguments(self) -> dict[str, Any]:
        """Return the plan as arguments for the functions of its processes."""
        return {
            "schedule": encode(self.schedule),
            "savers": 1 if self.sharing is Sharing.SHARED else len(self.callers),
            "in_step": self.theme.in_step,
            "in_rounds": self.theme.in_rounds,
            "reads_beside": self.reads_beside,
            "patience_s": PATIENCE_S[self.sharing],
            "before": encode(self.before),
            "callers": [encode(made) for made in self.callers],
            "after": encode(self.after),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the history as plain data, for an artefact."""
        return {"sharing": self.sharing.value, "theme": self.theme.name, **self.arguments()}


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of a history.

    ``trouble`` says why a part of it could not be played. ``hung`` are the stacks if it never
    ended. ``died`` says how a call ended the process. ``slow`` says why it was cut off.
    ``in_files`` says whether there were files in the store's own folder at the end.
    """

    script: CallPlan
    events: tuple[TimedCall, ...]
    trouble: str = ""
    hung: str = ""
    slow: str = ""
    died: str = ""
    in_files: bool = False


def script_of(
    sharing: Sharing, number: int, seed: str, able: Able, effort: SceneEffort
) -> CallPlan:
    """Return one of the histories of an item."""
    name = f"{seed}:{sharing.name}:{number}"
    themes = [one for one in THEMES[sharing] if able.deletes or one is not DELETING]
    theme, turn = themes[number % len(themes)], number + number // len(themes)
    callers = effort.callers if sharing is Sharing.SHARED else min(effort.callers, 3)
    if sharing is Sharing.PROCESSES:
        pause = PAUSE_BETWEEN_PROCESSES_S
        schedule = Schedule(name, statements=0.5, pause_s=pause, most=120, alone=True)
    else:
        # Schedules and themes change at different paces, so that each theme meets each schedule.
        schedule = schedule_of(turn, name)
    return CallPlan(
        sharing,
        theme,
        schedule,
        prologue(theme, able),
        tuple(drawn(theme, able, name, n, callers, effort.length) for n in range(callers)),
    )


def locked(bench: CallerBench, hold_s: float, able: Able) -> Played | None:
    """Play a history beside a process that holds the lock of the store's SQLite file for a while.
    Return None if the store is not in an SQLite file.
    """
    before = prologue(PUTS, able)
    number = 30 if able.history else 1
    while_held = (
        Operation(OperationKind.WRITES, 0, 1, 1_000, 100, 3),
        Operation(OperationKind.PUT, 0, number, tag=1_001),
        Operation(OperationKind.GET, 0, 1),
    )
    released = (
        Operation(OperationKind.WRITES, 0, 1, 2_000, 101, 3),
        Operation(OperationKind.PUT, 0, number + 1 if able.history else 1, tag=2_001),
        Operation(OperationKind.GET, 0, 1),
        Operation(OperationKind.LATEST, 0),
    )
    script = CallPlan(Sharing.LOCKED, PUTS, Schedule(""), before, (while_held, released))
    meeting = bench.folder / "meeting-over-a-lock"
    Meeting.prepare(meeting, 2)
    with bench.store() as store:
        arguments = store | script.arguments()
        arguments |= {
            "held": encode(while_held),
            "released": encode(released),
            "meeting": str(meeting),
            "hold_s": hold_s,
        }
        caller, holder = bench.writers([(lockheld.call, arguments), (lockheld.hold, arguments)])
    meeting.unlink()
    if holder.died_by is not DiedBy.FINISHED or not holder.value:
        return None
    return gathered(script, [caller])


def rehearsal(seed: str, able: Able, effort: SceneEffort) -> CallPlan:
    """Return a history for one caller alone. If a saver gets it wrong, the flaw is not one of
    concurrency.
    """
    theme = MIXED
    # All its callers' calls, one after the other, in a random order.
    made = [
        one
        for n in range(effort.callers)
        for one in drawn(theme, able, seed, n, effort.callers, effort.length)
    ]
    Random(seed).shuffle(made)
    return CallPlan(Sharing.SHARED, theme, Schedule(seed), prologue(theme, able), (tuple(made),))


def play(bench: CallerBench, script: CallPlan) -> Played:
    """Play a history on a new store."""
    return play_at_once(bench, [script])[0]


def play_at_once(bench: CallerBench, scripts: Sequence[CallPlan]) -> list[Played]:
    """Play histories of one kind side by side, each on a new store of its own.

    That takes little longer, since the callers of one history mostly wait for each other or for a
    lock.
    """
    with ExitStack() as stack:
        each = [stack.enter_context(bench.store()) | script.arguments() for script in scripts]
        if scripts[0].sharing is not Sharing.PROCESSES:
            alone = bench.together(child.share, each)
            return [
                replace(gathered(script, [one]), in_files=any(Path(store["path"]).iterdir()))
                for script, one, store in zip(scripts, alone, each, strict=True)
            ]
        meetings = [bench.folder / f"meeting-{number}" for number in range(len(each))]
        for meeting, one in zip(meetings, each, strict=True):
            Meeting.prepare(meeting, len(one["callers"]))
            one["meeting"] = str(meeting)
            stack.callback(meeting.unlink)
            stack.callback(meeting.with_suffix(".versions").unlink, missing_ok=True)
        first = bench.looked_at_each(child.begin, each)
        parts = [one | {"caller": n} for one in each for n in range(len(one["callers"]))]
        results = iter(bench.together(child.take_part, parts))
        last = bench.looked_at_each(child.end, each)
        return [
            gathered(script, [before, *islice(results, len(script.callers)), after])
            for script, before, after in zip(scripts, first, last, strict=True)
        ]


def gathered(script: CallPlan, results: Sequence[TrialResult | View]) -> Played:
    """Join the results of the processes of one history."""
    events: list[TimedCall] = []
    trouble = hung = slow = died = ""
    for result in results:
        if result.died_by is DiedBy.DEADLINE:
            hung = hung or f"the process did not even answer its watch\n{result.stacks}"
            continue
        if result.died_by is DiedBy.SIGNAL:
            died = died or f"{result.ending()}\n{result.stacks}"
            continue
        if result.died_by is not DiedBy.FINISHED:
            trouble = trouble or f"{result.ending()} {result.stacks}".strip()
            continue
        value = result.value
        events += [decode(TimedCall, event) for event in value["events"]]
        trouble = trouble or (value["trouble"] or "")
        still = value["standstill"]
        if still is not None and still["hung"]:
            hung = hung or f"no answer for {still['seconds']:g} s\n{still['stacks']}"
        elif still is not None:
            slow = f"not over after {still['seconds']:g} s"
    return Played(script, tuple(events), trouble, hung, slow, died)


def ended(played: Played) -> list[Problem]:
    """Return the problem of a history that never ended, or whose process died."""
    sharing = played.script.sharing
    name = THREADS if sharing is Sharing.SHARED else PROCESSES
    if played.died:
        how = played.died.partition("\n")[0]
        return [Problem(name, how, "no call to end the process", how, stacks=played.died)]
    if played.hung:
        how, _, stacks = played.hung.partition("\n")
        expected = "every call to be answered"
        last = played.events[-8:]
        return [Problem(name, f"{sharing.value}: {how}", expected, how, last, stacks=stacks)]
    return []
