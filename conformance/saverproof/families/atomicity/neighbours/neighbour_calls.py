"""Makes a call fail while another caller's call to the same saver is under way.

Through the sync API the other caller, the neighbour, has a thread. It begins when the failing call
is in its transaction, or has failed and is about to roll back. It either finishes its call, or
pauses in it until the other call is over. Through the async API both calls are awaited together.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.atomicity.scenarios import HISTORY, FaultScenario
from saverproof.families.atomicity.sweeps.interruptions import within_transactions
from saverproof.families.atomicity.trials.observation import OperationEnding, Viewpoint
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.process.standstill import MovementWatch
from saverproof.programs.small import OTHER, THREAD, batch
from saverproof.programs.steps.definitions import Put, PutWrites
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import put_writes_call
from saverproof.savers.execution.settled_calls import SettledCall, awaiting, perform
from saverproof.savers.execution.view import Wanted
from saverproof.savers.workspace import Workspace
from saverproof_faults import Call, Event, Fault, Place, Plan, cancel_at
from saverproof_faults.plan import excerpt

STANDSTILL_S = 0.06
"""Seconds without any progress after which one caller counts as waiting for the other."""
LONGEST_S = 2.0
"""Seconds for which a caller is waited for that does make progress: on a busy machine, a trial then
shows less.
"""
_POLL_S = 0.01
NEIGHBOUR = batch(OTHER, 1, 7, 4)


@dataclass(frozen=True, slots=True)
class SharedScenario(FaultScenario):
    """An operation on one thread, while ``neighbour`` is made on another."""

    neighbour: PutWrites = NEIGHBOUR

    @property
    def thread_by_thread(self) -> bool:
        return True

    @property
    def call(self) -> SettledCall:
        """The neighbour's call."""
        step = self.neighbour
        return SettledCall(step, put_writes_call(step, step.thread))


A_BATCH_MEETS_A_BATCH = SharedScenario("two callers", HISTORY, batch(THREAD, 2, 2, 4))
_TWO = tuple((channel, Value("integer", n)) for n, channel in enumerate(("count", "notes"), 1))
SMALL_BATCHES_MEET = SharedScenario(
    "two callers",
    (Put(THREAD, "", 1), Put(OTHER, "", 1)),
    PutWrites(THREAD, "", 1, 1, _TWO),
    neighbour=PutWrites(OTHER, "", 1, 2, _TWO),
)
"""The least in which one of the callers can be stored in part."""


@dataclass(frozen=True, slots=True)
class MeetingPlan:
    """The fault of a meeting (none, if ``plan`` is None), and where the neighbour is meanwhile.

    Through the sync API, the neighbour begins when the operation comes to the place ``at``: the one
    where the plan strikes, or the rollback after it. The neighbour pauses before ``halfway``.
    Through the async API, the places of both calls are counted together, and a cancellation strikes
    the operation.
    """

    plan: Plan | None = None
    at: Place | None = None
    halfway: Place | None = None

    def describe(self) -> str:
        """Describe the meeting in one sentence without its full stop."""
        if self.plan is None:
            return "nothing fails"
        if self.at is None:
            which = "" if self.plan.fault is Fault.CANCEL else ", counting the calls of both"
            return f"{self.plan.describe()}{which}"
        when = "when" if self.at == self.plan.place else "and is not rolled back until"
        where = "stands in its own transaction" if self.halfway else "has made its whole call"
        return f"{self.plan.describe()}, {when} the neighbour {where}"

    def as_data(self) -> dict[str, Any]:
        """Return the meeting as plain data for JSON."""
        places = {"at": self.at, "halfway": self.halfway}
        return {
            "plan": None if self.plan is None else self.plan.as_data(),
            **{name: None if at is None else at.as_data() for name, at in places.items()},
        }


@dataclass(slots=True)
class MeetingTrial(FaultTrial):
    """A trial of two callers. Few looks follow, and the operation is not made again."""

    neighbour: OperationEnding = OperationEnding.UNANSWERED
    said: str = ""
    met: bool = True
    """True if the neighbour's call began while the operation was under way."""

    def _look_on(self, workspace: Workspace) -> None:
        self._own(Viewpoint.OWN, Wanted(self._keys, self._threads))
        if not self.observation.locked:
            self._look_freshly(workspace)
        self._try("an unrelated write", self.store.settled.unrelated)

    def neighbour_ended(self, error: BaseException | None) -> None:
        """Record what the neighbour's call raised, or that it returned."""
        self.neighbour = OperationEnding.of(error)
        self.said = "" if error is None else f"{type(error).__name__}: {error}"


def call_of(trial: FaultTrial) -> SettledCall:
    """Return the neighbour's call of a trial."""
    scenario = trial.scenario
    assert isinstance(scenario, SharedScenario)
    return scenario.call


def one_after_the_other(trial: FaultTrial) -> None:
    """Make both calls, one after the other, without a fault."""
    trial.observation.ended(call_quietly(trial.operation))
    perform(trial.driver, call_of(trial))
    trial.settle()


def neither(_: FaultTrial) -> None:
    """Make no call."""


def meet(trial: MeetingTrial, meeting: MeetingPlan) -> None:
    """Make both calls as the meeting says, and record how each ended."""
    trial.observation.ending = OperationEnding.UNANSWERED
    if trial.bench.api == "async":
        _meet_on_a_loop(trial, meeting.plan)
    else:
        _meet_in_threads(trial, meeting)
    trial.settle()


# --- threads -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Two:
    """Two threads that take turns, unless one of them waits for something that the other holds."""

    call: Callable[[], object]
    ended: Callable[[BaseException | None], None]
    is_halfway: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def begin(self) -> None:
        """Let the neighbour run until it is halfway, is over, or waits for the operation."""
        self.thread = threading.Thread(target=self._run, name="neighbour", daemon=True)
        self.thread.start()
        _await(self.is_halfway)

    def _run(self) -> None:
        self.ended(call_quietly(self.call))
        self.is_halfway.set()

    def stand(self) -> None:
        """Let the operation run until it is over, or waits for the neighbour."""
        self.is_halfway.set()
        _await(self.is_over)

    def end(self) -> None:
        """Record that the operation is over, so that the neighbour ends soon."""
        self.is_over.set()
        if self.thread is None:
            self._run()
        else:
            self.thread.join()


def _await(event: threading.Event) -> None:
    movement = MovementWatch()
    while not event.is_set() and movement.total_s < LONGEST_S:
        before = time.monotonic()
        event.wait(_POLL_S)
        movement.look(min(time.monotonic() - before, 5 * _POLL_S))
        if movement.for_ever(STANDSTILL_S):
            return


def _meet_in_threads(trial: MeetingTrial, meeting: MeetingPlan) -> None:
    two = _Two(lambda: perform(trial.driver, call_of(trial)), trial.neighbour_ended)
    places: dict[Place, Callable[[], object]] = {}
    if meeting.at is not None:
        places[meeting.at] = two.begin
    if meeting.halfway is not None:
        places[meeting.halfway] = two.stand
    observation = trial.observation
    with trial.bench.injector.meeting(places, meeting.plan) as shot:
        observation.has_fired = lambda: shot is not None and shot.fired > 0
        observation.ended(call_quietly(trial.operation))
        trial.bench.worker.say("the neighbour's call")
        trial.met = two.thread is not None
        two.end()
    observation.fired = observation.has_fired()


# --- tasks ---------------------------------------------------------------------------------------


def _meet_on_a_loop(trial: MeetingTrial, plan: Plan | None) -> None:
    operation = awaiting(trial.driver, trial.store.settled.operation)
    neighbour = awaiting(trial.driver, call_of(trial))
    trial.bench.worker.say(f"{trial.scenario.operation}, of two callers")
    if plan is not None and plan.fault is Fault.CANCEL:
        fired = trial.bench.loop.run(_cancelled(trial, operation, neighbour, plan))
    else:
        with nullcontext() if plan is None else trial.bench.injector.meeting({}, plan) as shot:
            trial.observation.has_fired = lambda: shot is not None and shot.fired > 0
            first, second = trial.bench.loop.run(_both(operation(), neighbour()))
            trial.observation.ended(first)
            trial.neighbour_ended(second)
        fired = trial.observation.has_fired()
    trial.observation.fired = fired


async def _both(*calls: Awaitable[object]) -> tuple[BaseException | None, ...]:
    answers = await asyncio.gather(*calls, return_exceptions=True)
    return tuple(one if isinstance(one, BaseException) else None for one in answers)


async def _cancelled(
    trial: MeetingTrial,
    operation: Callable[[], Awaitable[object]],
    neighbour: Callable[[], Awaitable[object]],
    plan: Plan,
) -> bool:
    awaited, (second,) = await asyncio.gather(cancel_at(operation, plan), _both(neighbour()))
    trial.observation.ended(awaited.error)
    trial.neighbour_ended(second)
    return awaited.fired


# --- where to meet -------------------------------------------------------------------------------


def meetings_of_threads(own: Sequence[Call], neighbours: Sequence[Call]) -> list[MeetingPlan]:
    """Return the meetings of two threads, given the places of both calls in a clean run.

    The operation fails within its transaction, at the last place first. The neighbour begins there,
    or when the operation is about to roll back: not every saver still has the lock then that it had
    for its statements. By the time the operation goes on, the neighbour has finished, or has come
    to the last place of its own transaction. Meetings of one sort follow each other, so that an
    even share of all has every sort.
    """
    fails = [call for call in reversed([*within_transactions(own)]) if not call.elsewhere]
    there = [call for call in within_transactions(neighbours) if not call.elsewhere][-1:]
    begins: tuple[Callable[[Call], Place], ...] = (_place, lambda call: _rollback(own, call))
    return [
        MeetingPlan(
            Plan(Fault.RAISE, _place(call), error=call.error, about=excerpt(call.sql)),
            begin(call),
            None if halfway is None else _halfway(own, call, halfway),
        )
        for begin in begins
        for halfway in (None, *there)
        for call in fails
    ]


def _place(call: Call) -> Place:
    return Place(call.event, call.index)


def _passed(own: Sequence[Call], call: Call) -> list[Event]:
    return [one.event for one in own[: own.index(call) + 1]]


def _rollback(own: Sequence[Call], call: Call) -> Place:
    return Place(Event.ROLLBACK, _passed(own, call).count(Event.ROLLBACK) + 1)


def _halfway(own: Sequence[Call], call: Call, neighbours: Call) -> Place:
    """Return the neighbour's place, counted together with the places that the operation has passed
    before it fails at ``call``.
    """
    passed = _passed(own, call).count(neighbours.event)
    return Place(neighbours.event, passed + neighbours.index)


def meetings_of_tasks(both: Sequence[Call], cancellations: Sequence[Plan]) -> list[MeetingPlan]:
    """Return the meetings of two tasks: one at each place of a clean run of both, and one at each
    await of the first.
    """
    plans = [
        Plan(
            Fault.RAISE,
            Place(call.event, call.index),
            error=call.error,
            about=excerpt(call.sql),
        )
        for call in within_transactions(both)
    ]
    return [*map(MeetingPlan, plans), *map(MeetingPlan, cancellations)]
