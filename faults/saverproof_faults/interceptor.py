"""Count or record every proxied call of a program, or make it fail.

An interceptor knows no driver. A proxy hands it the event, the SQL, the original call, and the
module of the driver's exceptions. While no injector is active, calls bypass it.
"""

import builtins
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from sqlite3 import SQLITE_BUSY
from types import ModuleType
from typing import Any, TypeVar

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import PlanError, injected
from saverproof_faults.kinds import Event, Moment
from saverproof_faults.places import Call, Method
from saverproof_faults.plan import LOCKED, OPERATIONAL
from saverproof_faults.reentrancy import FLAGS

Result = TypeVar("Result")

IN_PROCESS = frozenset({"apsw", "duckdb", "lmdb", "pysqlite3", "sqlite3"})
"""Drivers whose engine runs in the program's own process, by the module of their exceptions."""

_CONTROL = {
    "BEGIN": Event.BEGIN,
    "COMMIT": Event.COMMIT,
    "END": Event.COMMIT,
    "ROLLBACK": Event.ROLLBACK,
}


class Interceptor:
    """A counter of calls, which can fail them. Each event is counted from 1 since ``open``."""

    in_turn = True
    """True if threads take turns in a connection (see ``sqlite.turns``)."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._on_error = on_error
        self._armed_plans: tuple[ArmedPlan, ...] = ()
        self._calls: list[Call] | None = None
        self._counts: dict[Event, Iterator[int]] = {}
        self._open = False
        self._opened_by = 0
        self._openings = 0

    def open(
        self, armed_plans: Sequence[ArmedPlan] = (), *, record: list[Call] | None = None
    ) -> int:
        """Count from 1, carry out ``armed_plans``, and append calls to ``record``."""
        self._counts = {event: itertools.count(1) for event in set(_CONTROL.values())}
        self._counts[Event.STATEMENT] = itertools.count(1)
        self._armed_plans = tuple(armed_plans)
        self._calls = record
        self._opened_by = threading.get_ident()
        self._open = True
        self._openings += 1
        return self._openings

    @property
    def is_open(self) -> bool:
        """True while calls are counted."""
        return self._open

    def close(self) -> None:
        """Stop counting, and let all calls pass."""
        self._open = False
        self._armed_plans = ()
        self._calls = None

    def close_if_current(self, opening: int) -> None:
        """Stop counting, unless counting has begun anew since the ``opening`` of this number.

        A thread that was given up may call this while another one counts already.
        """
        if opening == self._openings:
            self.close()

    def call(
        self,
        event: Event,
        sql: str,
        errors: ModuleType,
        run: Callable[[], Result],
        method: Method | None = None,
    ) -> Result:
        """Make one call that is not a batch, unless a fault strikes."""
        try:
            passage = self._enter(event, sql, errors, method)
            result = self._inside(run)
            if passage is not None:
                self._leave(passage)
            return result
        finally:
            # Drop the references, so that a traceback does not keep the program's cursor alive: see
            # InterceptedCursor.
            result = run = None  # type: ignore[assignment]

    def batch(
        self,
        sql: str,
        rows: Iterable[Any],
        errors: ModuleType,
        run: Callable[[Iterable[Any]], Result],
    ) -> Result:
        """Make one ``executemany``. A fault after row r lets the first r rows really run."""
        try:
            passage = self._enter(Event.STATEMENT, sql, errors)
            if passage is None:
                return self._inside(partial(run, rows))
            passage.rows = counted = _CountedRows(rows, self._last_row(passage.index))
            result = self._inside(partial(run, counted))
            self._leave(passage)
            return result
        finally:
            result = run = None  # type: ignore[assignment]

    async def await_call(
        self,
        event: Event,
        sql: str,
        errors: ModuleType,
        run: Callable[[], Awaitable[Result]],
        method: Method | None = None,
    ) -> Result:
        """Make one call of an asynchronous driver, and await it."""
        passage = self._enter(event, sql, errors, method)
        result = await run()
        if passage is not None:
            self._leave(passage)
        return result

    async def await_batch(
        self,
        sql: str,
        rows: Iterable[Any],
        errors: ModuleType,
        run: Callable[[Iterable[Any]], Awaitable[Result]],
    ) -> Result:
        """Make one ``executemany`` of an asynchronous driver, and await it."""
        passage = self._enter(Event.STATEMENT, sql, errors)
        if passage is None:
            return await run(rows)
        passage.rows = counted = _CountedRows(rows, self._last_row(passage.index))
        result = await run(counted)
        self._leave(passage)
        return result

    def _enter(
        self, event: Event, sql: str, errors: ModuleType, method: Method | None = None
    ) -> "_Passage | None":
        if FLAGS.inside or not self._open:
            return None
        passage = _Passage(event, next(self._counts[event]), sql, errors, method)
        self._strike(passage, Moment.BEFORE, None)
        return passage

    def _leave(self, passage: "_Passage") -> None:
        rows = passage.rows
        if self._calls is not None:
            passed = None if rows is None else rows.passed
            remote = passage.errors.__name__.partition(".")[0] not in IN_PROCESS
            error = getattr(passage.errors, OPERATIONAL).__name__
            seen = (passage.event, passage.index, passage.sql, passed, remote, error)
            elsewhere = threading.get_ident() != self._opened_by
            self._calls.append(Call(*seen, passage.method, elsewhere))
        if rows is not None and rows.cut:
            self._strike(passage, Moment.AFTER, rows.passed)
        self._strike(passage, Moment.AFTER, None)

    def _inside(self, run: Callable[[], Result]) -> Result:
        FLAGS.inside += 1
        try:
            return run()
        except Exception as error:
            self._on_error(error)
            raise
        finally:
            FLAGS.inside -= 1
            run = None  # type: ignore[assignment]

    def _last_row(self, index: int) -> int | None:
        rows = [
            armed.plan.place.row
            for armed in self._armed_plans
            if armed.plan.place.event is Event.STATEMENT and armed.hits(index) and not armed.spent
        ]
        return min((row for row in rows if row is not None), default=None)

    def _strike(self, passage: "_Passage", moment: Moment, row: int | None) -> None:
        for armed in self._armed_plans:
            place = armed.plan.place
            if (
                place.event is passage.event
                and place.moment is moment
                and place.row == row
                and armed.hits(passage.index)
                and armed.fire()
            ):
                if armed.action is None:
                    raise _error(armed, passage.errors)
                armed.action()


class Interceptors:
    """The interceptor that proxies use now.

    It is looked up at each call, because proxied connections outlive injectors.
    """

    current: Interceptor | None = None


INTERCEPTORS = Interceptors()


@lru_cache(maxsize=1024)
def event_of(sql: str) -> Event:
    """Return the event that executing this SQL is: a plain statement, or control of a transaction.

    ROLLBACK TO undoes only a part of a transaction, and is a plain statement.
    """
    words = _without_comments(sql).upper().replace(";", " ").split(None, 3)
    event = _CONTROL.get(words[0]) if words else None
    if event is Event.ROLLBACK and "TO" in words[1:3]:
        return Event.STATEMENT
    return event or Event.STATEMENT


def _without_comments(sql: str) -> str:
    text = sql.lstrip()
    while text.startswith(("--", "/*")):
        ending = "\n" if text.startswith("--") else "*/"
        text = text.partition(ending)[2].lstrip()
    return text


def _error(armed: ArmedPlan, errors: ModuleType) -> BaseException:
    name, _, said = armed.plan.error.partition(": ")
    error_type = getattr(errors, name, None) or getattr(builtins, name, None)
    if not (isinstance(error_type, type) and issubclass(error_type, BaseException)):
        raise PlanError(
            f"plan.error: found {name!r}, expected an exception of {errors.__name__} or a builtin"
        )
    error = injected(error_type)(said or f"raised on purpose: {armed.plan.describe()}")
    if armed.plan.error == LOCKED:
        error.__dict__.update(sqlite_errorcode=SQLITE_BUSY, sqlite_errorname="SQLITE_BUSY")
    return error


@dataclass(slots=True)
class _Passage:
    event: Event
    index: int
    sql: str
    errors: ModuleType
    method: Method | None = None
    rows: "_CountedRows | None" = None


class _CountedRows:
    """The rows of a batch, counted as the driver takes them. After ``limit`` rows it ends."""

    def __init__(self, rows: Iterable[Any], limit: int | None) -> None:
        self._rows = iter(rows)
        self._limit = limit
        self.passed = 0

    @property
    def cut(self) -> bool:
        """True if the driver has taken as many rows as the limit allows."""
        return self.passed == self._limit

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._limit is not None and self.passed >= self._limit:
            raise StopIteration
        row = next(self._rows)
        self.passed += 1
        return row
