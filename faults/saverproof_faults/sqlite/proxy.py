"""Connections and cursors of ``sqlite3`` that pass each call through the interceptor.

They are subclasses, so that ``isinstance`` holds. In the order of resolution they stand *below* a
program's own subclass: overrides there stay in effect, and what they pass on to ``sqlite3`` goes
through the interceptor. Methods that are not overridden here go straight to ``sqlite3``.
"""

import functools
import sqlite3
import threading
import types
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal

from saverproof_faults.errors import was_injected
from saverproof_faults.interceptor import INTERCEPTORS, event_of
from saverproof_faults.kinds import Event
from saverproof_faults.places import LEAVING
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.sqlite.turns import in_turn


class InterceptedCursor(sqlite3.Cursor):
    """A cursor whose three ways to execute pass the interceptor. Threads take turns in it.

    An exception's traceback keeps the variables of the functions that it passed, and a cursor that
    is kept alive keeps a closed connection's transaction open. An exception of the original
    ``sqlite3`` keeps no cursor; therefore these functions drop theirs before they end.
    """

    def execute(self, sql: str, *parameters: Any) -> Any:
        run = None
        try:
            interceptor = INTERCEPTORS.current
            run = self._in_turn(super().execute, sql, *parameters)
            if interceptor is None or not isinstance(sql, str):
                return run()
            return interceptor.call(event_of(sql), sql, sqlite3, run)
        finally:
            del self, run

    def executemany(self, sql: str, *parameters: Any) -> Any:
        run = None
        try:
            interceptor = INTERCEPTORS.current
            run = self._in_turn(super().executemany, sql)
            if (
                interceptor is None
                or len(parameters) != 1
                or not isinstance(parameters[0], Iterable)
            ):
                return run(*parameters)
            return interceptor.batch(sql, parameters[0], sqlite3, run)
        finally:
            del self, run

    def executescript(self, sql_script: str, /) -> Any:
        run = None
        try:
            interceptor = INTERCEPTORS.current
            run = self._in_turn(super().executescript, sql_script)
            if interceptor is None:
                return run()
            return interceptor.call(Event.STATEMENT, sql_script, sqlite3, run)
        finally:
            del self, run

    def fetchone(self) -> Any:
        try:
            return self._in_turn(super().fetchone)()
        finally:
            del self

    def fetchmany(self, *arguments: Any, **options: Any) -> Any:
        try:
            return self._in_turn(super().fetchmany, *arguments, **options)()
        finally:
            del self

    def fetchall(self) -> Any:
        try:
            return self._in_turn(super().fetchall)()
        finally:
            del self

    def __next__(self) -> Any:
        try:
            return self._in_turn(super().__next__)()
        finally:
            del self

    def _in_turn(self, call: Callable[..., Any], *given: Any, **options: Any) -> Callable[..., Any]:
        assert isinstance(self.connection, InterceptedConnection)
        return functools.partial(in_turn, self.connection.saverproof_turn, call, *given, **options)


class InterceptedConnection(sqlite3.Connection):
    """A connection whose cursors, executes, commits and rollbacks are intercepted."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.saverproof_turn = threading.RLock()
        timeout = options.get("timeout", arguments[1] if len(arguments) > 1 else 5.0)
        previous, FLAGS.timeout_ms = FLAGS.timeout_ms, _milliseconds(timeout)
        FLAGS.opening += 1
        try:
            super().__init__(*arguments, **options)
        finally:
            FLAGS.opening -= 1
            FLAGS.timeout_ms = previous

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        if isinstance(factory, type) and issubclass(factory, sqlite3.Cursor):
            factory = intercepted_cursor(factory)
        return super().cursor(factory)

    # In C these three methods make a plain cursor, and ignore an overridden ``cursor``.

    def execute(self, *arguments: Any) -> Any:
        return super().cursor(InterceptedCursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return super().cursor(InterceptedCursor).executemany(*arguments)

    def executescript(self, *arguments: Any) -> Any:
        return super().cursor(InterceptedCursor).executescript(*arguments)

    def commit(self) -> None:
        interceptor = INTERCEPTORS.current
        run = functools.partial(in_turn, self.saverproof_turn, super().commit)
        if interceptor is None:
            run()
        else:
            interceptor.call(Event.COMMIT, "commit()", sqlite3, run)

    def rollback(self) -> None:
        interceptor = INTERCEPTORS.current
        run = functools.partial(in_turn, self.saverproof_turn, super().rollback)
        if interceptor is None:
            run()
        else:
            interceptor.call(Event.ROLLBACK, "rollback()", sqlite3, run)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> Literal[False]:
        interceptor = INTERCEPTORS.current
        leave = functools.partial(
            in_turn, self.saverproof_turn, super().__exit__, kind, error, trace
        )
        if interceptor is None:
            return leave()
        if kind is not None:
            return interceptor.call(Event.ROLLBACK, LEAVING, sqlite3, leave)
        try:
            return interceptor.call(Event.COMMIT, LEAVING, sqlite3, leave)
        except BaseException as failure:
            if was_injected(failure):
                # When a commit fails, sqlite3 itself rolls back before it lets the exception out.
                run = functools.partial(in_turn, self.saverproof_turn, super().rollback)
                interceptor.call(Event.ROLLBACK, LEAVING, sqlite3, run)
            raise


_INTERCEPTED: dict[type, type] = {
    sqlite3.Connection: InterceptedConnection,
    sqlite3.Cursor: InterceptedCursor,
}


def intercepted_connection(factory: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    """Return the intercepted subclass of a connection class. It is made once for each class."""
    return _below(factory, InterceptedConnection)


def intercepted_cursor(factory: type[sqlite3.Cursor]) -> type[sqlite3.Cursor]:
    """Return the intercepted subclass of a cursor class. It is made once for each class."""
    return _below(factory, InterceptedCursor)


def _below(factory: type, intercepted: type) -> type:
    if issubclass(factory, intercepted):
        return factory
    if factory not in _INTERCEPTED:
        names = {"__module__": factory.__module__, "__qualname__": factory.__qualname__}
        _INTERCEPTED[factory] = types.new_class(
            factory.__name__, (factory, intercepted), exec_body=lambda body: body.update(names)
        )
    return _INTERCEPTED[factory]


def _milliseconds(timeout: Any) -> int:
    try:
        return int(float(timeout) * 1000)
    except (TypeError, ValueError):
        # sqlite3 itself will report the error.
        return 5000
