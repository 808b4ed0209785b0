"""One door to faults at every place of an operation: count a clean run, then arm, run, heal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

from .drivers import SQLITE3, Driver
from .errors import FaultsError
from .gate import GATES, Gate
from .kinds import Fault
from .places import Call, Places
from .plan import Plan
from .shots import Report, Shot
from .sqlite.enginefault import EngineFault
from .sqlite.factory import MAKERS, engine_fault
from .sqlite.library import unavailable
from .sqlite.recorder import Recorder
from .sqlite.watch import Watch


class Counting:
    """A clean run being counted; `places` holds what passed once its block is left."""

    def __init__(self) -> None:
        self.places = Places()


class Injector:
    """A context manager, one at a time in a process, to be entered before the program connects.

    While it is entered, connections that the program opens are proxied (`sqlite3` always, further
    `drivers` as given) and watched. `report` holds what was counted and armed, and stays
    afterwards. Where SQLite cannot be watched, `engine_unavailable` says why, and only client-side
    faults can be armed.
    """

    def __init__(self, drivers: Iterable[Driver] = ()) -> None:
        self._drivers = (SQLITE3, *drivers)
        self._gate = Gate(self._failed)
        self._exit = ExitStack()
        self._armed: list[EngineFault] = []
        self.watch = Watch()
        self.engine_unavailable = unavailable()
        self.report = Report(engine_unavailable=self.engine_unavailable)

    def __enter__(self) -> Self:
        if GATES.current is not None:
            raise FaultsError("another injector is active in this process")
        with ExitStack() as entering:
            if self.engine_unavailable is None:
                entering.enter_context(self.watch)
            GATES.current = self._gate
            entering.callback(self._leave_gate)
            for driver in self._drivers:
                entering.callback(driver.install())
            self._exit = entering.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._exit:
            self.heal()

    def count(self, operation: Callable[[], object]) -> Places:
        """Run a synchronous operation without faults, and return the places that it passed."""
        with self.counting() as counting:
            operation()
        return counting.places

    @contextmanager
    def counting(self) -> Iterator[Counting]:
        """Count what passes within the block, which may await.

        Raises FaultsError on entering while a plan is armed, and HookFailed on leaving if
        something inside SQLite could not be followed.
        """
        self._require_healed()
        counting = Counting()
        calls: list[Call] = []
        with ExitStack() as stack:
            recorder = None
            if self.engine_unavailable is None:
                recorder = Recorder(self.watch)
                recorder.start()
                stack.enter_context(self.watch.listening(recorder))
            self._gate.open(record=calls)
            stack.callback(self._gate.close)
            yield counting
        counting.places = _places(calls, recorder)
        self._count_in(counting.places)

    def arm(self, *plans: Plan) -> tuple[Shot, ...]:
        """Arm plans, which count places from now on, until `heal`.

        Raises FaultsError for a plan that an injector cannot carry out here, or while others are
        armed.
        """
        self._require_healed()
        shots = tuple(Shot(plan) for plan in plans)
        for shot in shots:
            self._require_possible(shot.plan)
        self.report.shots.extend(shots)
        try:
            for shot in shots:
                if shot.plan.fault is not Fault.RAISE:
                    self._arm_engine(shot)
        except BaseException:
            self.heal()
            raise
        self._gate.open([shot for shot in shots if shot.plan.fault is Fault.RAISE])
        return shots

    def heal(self) -> None:
        """Undo what is armed on every connection that is still open.

        Raises HookFailed if something inside SQLite went wrong in the fault layer itself.
        """
        self._gate.close()
        armed, self._armed = self._armed, []
        with ExitStack() as stack:
            for fault in armed:
                stack.callback(fault.heal)
                stack.callback(self.watch.unlisten, fault)
        if self.engine_unavailable is None:
            self.watch.check()

    @contextmanager
    def armed(self, plan: Plan) -> Iterator[Shot]:
        """Arm one plan for the length of a block, which may await; heal at its end."""
        (shot,) = self.arm(plan)
        try:
            yield shot
        finally:
            self.heal()

    def _arm_engine(self, shot: Shot) -> None:
        fault = engine_fault(shot, self.watch)
        self._armed.append(fault)
        fault.arm()
        self.watch.listen(fault)

    def _require_healed(self) -> None:
        if self._armed or self._gate.is_open:
            raise FaultsError("plans are armed, or places counted, already: heal first")

    def _require_possible(self, plan: Plan) -> None:
        if plan.fault is Fault.RAISE:
            return
        if plan.fault not in MAKERS:
            raise FaultsError(f"an injector does not carry out {plan.fault.value!r}")
        if self.engine_unavailable is not None:
            raise FaultsError(f"no fault of SQLite's own here: {self.engine_unavailable}")

    def _failed(self, error: BaseException) -> None:
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(code, int):
            for fault in self._armed:
                fault.failed(code & 0xFF)

    def _count_in(self, places: Places) -> None:
        report = self.report
        report.points += len(places.calls) + len(places.statements)
        report.unproxied_connections += places.unproxied_connections
        report.unproxied_statements += places.unproxied_statements

    def _leave_gate(self) -> None:
        GATES.current = None


def _places(calls: list[Call], recorder: Recorder | None) -> Places:
    places = Places(calls=tuple(calls))
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
