"""Faults at every place of an operation: count a clean run, then arm a plan, run, heal."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Self

from saverproof_faults.armed_plans import ArmedPlan, InjectionReport
from saverproof_faults.cancel import Awaited, Operation, cancel_at
from saverproof_faults.drain import Handoffs
from saverproof_faults.drivers import Driver
from saverproof_faults.errors import FaultsError
from saverproof_faults.interceptor import INTERCEPTORS, Interceptor
from saverproof_faults.iofaults import IoFaults
from saverproof_faults.kinds import CLIENT_EVENTS, IO_EVENTS, Event, Fault
from saverproof_faults.known_drivers import KNOWN_DRIVERS, loaded_drivers
from saverproof_faults.places import Call, Places
from saverproof_faults.plan import Place, Plan
from saverproof_faults.sqlite.enginefault import EngineFault
from saverproof_faults.sqlite.factory import MAKERS, engine_fault
from saverproof_faults.sqlite.library import unavailable
from saverproof_faults.sqlite.recorder import StatementRecorder
from saverproof_faults.sqlite.trap import Trap
from saverproof_faults.sqlite.watch import Watch


class Counting:
    """A clean run that is being counted; ``places`` holds what it passed after the block."""

    def __init__(self) -> None:
        self.places = Places()


class Injector:
    """A context manager that counts places and makes faults happen at them.

    Enter it before the program connects. Only one can be entered in a process at a time.

    While it is entered, connections that the program opens are proxied and watched. Proxied are
    those of sqlite3, of the known drivers that are loaded by then, and of ``drivers``. With a
    ``folder``, SQLite's I/O below it is counted and failed too. ``report`` holds what was counted
    and armed; it can still be read afterwards. ``engine_unavailable`` and ``io_unavailable`` say
    why faults inside SQLite and of its I/O cannot be made here; they are None if they can.
    """

    def __init__(
        self,
        drivers: Iterable[Driver] = (),
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.watch = Watch()
        self.engine_unavailable = unavailable()
        self.io_unavailable = IoFaults.unavailable()
        self.report = InjectionReport(engine_unavailable=self.engine_unavailable)
        self._drivers = tuple(drivers)
        self._interceptor = Interceptor(self._failed)
        self._handoffs = Handoffs()
        watches_io = folder is not None and self.io_unavailable is None
        self._io = IoFaults(folder) if watches_io and folder is not None else None
        self._armed: list[EngineFault] = []
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        if INTERCEPTORS.current is not None:
            raise FaultsError("another injector is active in this process")
        with ExitStack() as entering:
            if self.engine_unavailable is None:
                entering.enter_context(self.watch)
            if self._io is not None:
                entering.enter_context(self._io)
            entering.enter_context(self._handoffs)
            INTERCEPTORS.current = self._interceptor
            entering.callback(self._leave_interceptor)
            for driver in self._in_use():
                entering.callback(driver.install())
            self._exit = entering.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._exit:
            self.heal()

    def count(self, operation: Callable[[], object]) -> Places:
        """Run a synchronous operation without faults, and return the places that it passed."""
        with self.counting() as counting:
            operation()
        return counting.places

    @contextmanager
    def counting(self) -> Iterator[Counting]:
        """Count what passes within a block. The block may await.

        Raises:
            FaultsError: a plan is armed on entering.
            HookFailed: something inside SQLite could not be followed; raised on leaving.
        """
        self._require_healed()
        self._handoffs.look_again()
        counting = Counting()
        calls: list[Call] = []
        io_before = 0 if self._io is None else self._io.passed()
        recorder = None
        with ExitStack() as stack:
            if self.engine_unavailable is None:
                recorder = StatementRecorder(self.watch)
                recorder.start()
                stack.enter_context(self.watch.listening(recorder))
            opening = self._interceptor.open(record=calls)
            stack.callback(self._interceptor.close_if_current, opening)
            yield counting
        io_calls = () if self._io is None else self._io.calls_since(io_before)
        counting.places = _places(calls, io_calls, recorder)
        self._count_in(counting.places)

    def arm(self, *plans: Plan) -> tuple[ArmedPlan, ...]:
        """Arm plans until ``heal``. Their places are counted from now on.

        Raises:
            FaultsError: a plan cannot be carried out here, or others are armed already.
        """
        self._require_healed()
        for plan in plans:
            self._require_possible(plan)
        self._handoffs.look_again()
        armed_plans = tuple(ArmedPlan(plan) for plan in plans)
        self.report.armed_plans.extend(armed_plans)
        try:
            for armed in armed_plans:
                self._arm_inside(armed)
        except BaseException:
            self.heal()
            raise
        self._interceptor.open([armed for armed in armed_plans if armed.plan.fault is Fault.RAISE])
        return armed_plans

    def heal(self) -> None:
        """Disarm all plans, on every connection that is still open.

        Raises:
            HookFailed: the fault layer itself went wrong inside SQLite.
        """
        self._interceptor.close()
        armed, self._armed = self._armed, []
        with ExitStack() as stack:
            for fault in armed:
                stack.callback(fault.heal)
                stack.callback(self.watch.unlisten, fault)
            if self._io is not None:
                stack.callback(self._io.heal)
        if self.engine_unavailable is None:
            self.watch.check()

    @contextmanager
    def armed(self, plan: Plan) -> Iterator[ArmedPlan]:
        """Arm one plan for the length of a block, and heal at its end. The block may await."""
        (armed,) = self.arm(plan)
        try:
            yield armed
        finally:
            self.heal()

    @contextmanager
    def trapped(self, place: Place, action: Callable[[], object]) -> Iterator[None]:
        """Call ``action``, such as a kill, when a place is first reached within a block.

        The place must be one of the program's calls or inside SQLite.

        Raises:
            PlanError: the place is of another kind.
        """
        self._require_healed()
        with ExitStack() as stack:
            if place.event in CLIENT_EVENTS:
                opening = self._interceptor.open([ArmedPlan(Plan(Fault.KILL, place), action)])
                stack.callback(self._interceptor.close_if_current, opening)
            else:
                stack.enter_context(self.watch.listening(Trap(place, action)))
            yield

    @contextmanager
    def meeting(
        self,
        places: Mapping[Place, Callable[[], object]],
        plan: Plan | None,
        *,
        record: list[Call] | None = None,
    ) -> Iterator[ArmedPlan | None]:
        """Call an action at each of some places of the program's calls, and then fail as planned.

        All places are of the program's calls, whichever thread makes them; ``record`` gets these
        calls. This yields the plan, as it was armed.
        """
        self._require_healed()
        shot = None if plan is None else ArmedPlan(plan)
        traps = [ArmedPlan(Plan(Fault.KILL, place), act) for place, act in places.items()]
        plans = [*traps, *([] if shot is None else [shot])]
        opening = self._interceptor.open(plans, record=record)
        try:
            yield shot
        finally:
            self._interceptor.close_if_current(opening)

    async def cancel(self, operation: Operation, plan: Plan) -> Awaited:
        """Await an operation, cancel it where ``plan`` says, and wait until its work has ended."""
        self._require_healed()
        self._handoffs.look_again()
        armed = ArmedPlan(plan)
        self.report.armed_plans.append(armed)
        habits = asyncio.all_tasks()
        awaited = await cancel_at(operation, plan)
        armed.fired += awaited.fired
        await self._handoffs.drain(habits=habits)
        return awaited

    async def drain(self) -> None:
        """Wait until work that the program handed to threads has ended (see ``drain.Handoffs``)."""
        await self._handoffs.drain()

    def _in_use(self) -> tuple[Driver, ...]:
        declared = {driver.name: driver for driver in self._drivers}
        known = {name: KNOWN_DRIVERS[name] for name in loaded_drivers() if name in KNOWN_DRIVERS}
        return tuple((known | declared).values())

    def _arm_inside(self, armed: ArmedPlan) -> None:
        if armed.plan.fault in MAKERS:
            fault = engine_fault(armed, self.watch)
            self._armed.append(fault)
            fault.arm()
            self.watch.listen(fault)
        elif self._io is not None and armed.plan.place.event in IO_EVENTS:
            self._io.arm(armed)

    def _require_healed(self) -> None:
        if self._armed or self._interceptor.is_open:
            raise FaultsError("plans are armed, or places counted, already: heal first")

    def _require_possible(self, plan: Plan) -> None:
        if plan.place.event in (Event.SYSTEM_CALL, Event.SEND):
            raise FaultsError("an injector holds no system calls: saverproof_faults.syscalls does")
        if plan.fault in MAKERS:
            if self.engine_unavailable is not None:
                raise FaultsError(f"no fault of SQLite's own here: {self.engine_unavailable}")
        elif plan.fault in (Fault.IO_ERROR, Fault.IO_FULL):
            if self._io is None:
                why = self.io_unavailable or "the injector was given no folder"
                raise FaultsError(f"no I/O fault here: {why}")
        elif plan.fault is not Fault.RAISE:
            raise FaultsError(f"an injector cannot arm {plan.fault.value!r}")

    def _failed(self, error: BaseException) -> None:
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(code, int):
            for fault in self._armed:
                fault.failed(code & 0xFF)

    def _count_in(self, places: Places) -> None:
        report = self.report
        report.points += len(places.calls) + len(places.statements) + len(places.io_calls)
        report.unproxied_connections += places.unproxied_connections
        report.unproxied_statements += places.unproxied_statements

    def _leave_interceptor(self) -> None:
        INTERCEPTORS.current = None


def _places(
    calls: list[Call], io_calls: tuple[str, ...], recorder: StatementRecorder | None
) -> Places:
    places = Places(calls=tuple(calls), io_calls=io_calls)
    if recorder is None:
        return places
    recorder.finish()
    return replace(
        places,
        statements=tuple(recorder.statements),
        transactions=recorder.transactions,
        rollbacks=recorder.rollbacks,
        unproxied_connections=recorder.unproxied_connections,
        unproxied_statements=sum(not statement.proxied for statement in recorder.statements),
        grew=recorder.grew,
        rollback_journal=recorder.rollback_journal,
    )
