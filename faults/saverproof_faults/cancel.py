"""Cancel an awaited operation at its k-th suspension, which is the same one in every run.

    clean = await count_awaits(operation)            # how often it suspends, and on what
    for plan in clean.plans():
        outcome = await cancel_at(operation, plan)

The operation suspends where its task really waits: for a thread, a socket, or a lock that is taken.
An operation that awaits a database does so at least once per call.

A task that is cancelled *before* its suspension hears of it at once, perhaps before the awaited
work has started. A task that is cancelled *after* it loses the result of work that is done. Work
that was handed to a thread goes on in either case: look at what the operation left behind only when
that has ended (``drain.Handoffs``).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from saverproof_faults.errors import PlanError
from saverproof_faults.kinds import Event, Fault, Moment
from saverproof_faults.plan import Place, Plan

Operation = Callable[[], Awaitable[object]]


class Ending(StrEnum):
    """The ways in which an awaited operation ends."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Awaited:
    """One run of an awaited operation.

    ``suspensions`` names the function in which each suspension happened. ``fired`` says whether the
    operation was cancelled on purpose. ``error`` is the exception that the operation ended with, a
    CancelledError included.
    """

    ending: Ending
    suspensions: tuple[str, ...]
    fired: bool = False
    value: object = None
    error: BaseException | None = None

    def plans(self) -> tuple[Plan, ...]:
        """Return every cancellation that can strike this operation, after a clean run of it."""
        return tuple(
            Plan(Fault.CANCEL, Place(Event.AWAIT, index, moment), about=about)
            for index, about in enumerate(self.suspensions, start=1)
            for moment in Moment
        )


async def count_awaits(operation: Operation) -> Awaited:
    """Run the operation to its end without cancelling it, and note where it suspends."""
    return await _drive(operation, None)


async def cancel_at(operation: Operation, plan: Plan) -> Awaited:
    """Run the operation in a task of its own, cancel it where ``plan`` says, and wait for its end.

    ``fired`` of the result is False if the operation suspended less often than the plan counts.

    Raises:
        PlanError: the plan is not a cancellation.
    """
    if plan.fault is not Fault.CANCEL:
        raise PlanError(f"plan.fault: found {plan.fault.value!r}, expected 'cancel'")
    return await _drive(operation, plan.place)


async def _drive(operation: Operation, place: Place | None) -> Awaited:
    driver = _Driver(operation, place)
    task = asyncio.get_running_loop().create_task(driver.run())
    driver.task = task
    # If this task itself is cancelled, ``wait`` does not pass that on to the operation's task.
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    names = tuple(driver.suspensions)
    if task.cancelled():
        cause = asyncio.CancelledError()
        return Awaited(Ending.CANCELLED, names, driver.fired, error=cause)
    if (error := task.exception()) is not None:
        return Awaited(Ending.RAISED, names, driver.fired, error=error)
    return Awaited(Ending.RETURNED, names, driver.fired, value=task.result())


@dataclass(eq=False)
class _Driver:
    """The link between an operation and its task, through which every suspension passes."""

    operation: Operation
    place: Place | None
    suspensions: list[str] = field(default_factory=list)
    fired: bool = False
    task: "asyncio.Task[object] | None" = None

    async def run(self) -> object:
        return await _Passing(self, _coroutine(self.operation()))

    def strikes(self, moment: Moment) -> bool:
        """Return whether to cancel on this side of the suspension that was noted last."""
        place = self.place
        hit = (
            place is not None
            and not self.fired
            and place.moment is moment
            and place.index == len(self.suspensions)
        )
        self.fired = self.fired or hit
        return hit


@dataclass(eq=False)
class _Passing:
    driver: _Driver
    inner: Coroutine[Any, Any, object]

    def __await__(self) -> Generator[Any, Any, object]:
        send: Callable[[], Any] = lambda: self.inner.send(None)  # noqa: E731
        while True:
            try:
                suspended_on = send()
            except StopIteration as end:
                return end.value
            self.driver.suspensions.append(_innermost(self.inner))
            if self.driver.strikes(Moment.BEFORE) and self.driver.task is not None:
                # The task is running now: this cancels the future that it is about to wait for.
                self.driver.task.cancel()
            send = yield from self._resumed(suspended_on)

    def _resumed(self, suspended_on: Any) -> Generator[Any, Any, Callable[[], Any]]:
        try:
            yield suspended_on
        except BaseException as error:  # noqa: BLE001 - handed to the operation
            thrown = error
            return lambda: self.inner.throw(thrown)
        if self.driver.strikes(Moment.AFTER):
            return lambda: self.inner.throw(asyncio.CancelledError())
        return lambda: self.inner.send(None)


async def _awaited(awaitable: Awaitable[object]) -> object:
    return await awaitable


def _coroutine(awaitable: Awaitable[object]) -> Coroutine[Any, Any, object]:
    return awaitable if isinstance(awaitable, Coroutine) else _awaited(awaitable)


_FRAMES = ("cr_frame", "ag_frame", "gi_frame")
_INNER = ("cr_await", "ag_await", "gi_yieldfrom")


def _innermost(outer: Any) -> str:
    """Return the module and name of the function that waits at the end of a chain of awaits."""
    name = ""
    while outer is not None:
        frame = next(filter(None, (getattr(outer, attribute, None) for attribute in _FRAMES)), None)
        if frame is not None:
            name = f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
        outer = next(filter(None, (getattr(outer, attribute, None) for attribute in _INNER)), None)
    return name
