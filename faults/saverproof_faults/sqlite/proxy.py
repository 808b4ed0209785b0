"""Connections and cursors of `sqlite3` that pass each call through the gate.

They are subclasses, so that `isinstance` holds, and they are put *below* a program's own subclass
in the order of resolution: what that subclass makes of a call stays as it is, and what it hands on
to `sqlite3` passes the gate. What is not overridden here goes straight to `sqlite3`.
"""

import functools
import sqlite3
import types
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Literal

from ..errors import was_injected
from ..gate import GATES, event_of
from ..kinds import Event
from ..marks import MARKS
from ..places import LEAVING


class GatedCursor(sqlite3.Cursor):
    """A cursor whose three ways to execute pass the gate.

    An error's traceback keeps the variables of the functions that it passed, and a cursor kept
    alive keeps a closed connection's transaction open. The error that the true `sqlite3` raises
    keeps none, so these functions let go of the cursor before they are left.
    """

    def execute(self, sql: str, *parameters: Any) -> Any:
        try:
            gate = GATES.current
            run = functools.partial(super().execute, sql, *parameters)
            if gate is None or not isinstance(sql, str):
                return run()
            return gate.call(event_of(sql), sql, sqlite3, run)
        finally:
            del self, run

    def executemany(self, sql: str, *parameters: Any) -> Any:
        try:
            gate = GATES.current
            run = functools.partial(super().executemany, sql)
            if gate is None or len(parameters) != 1 or not isinstance(parameters[0], Iterable):
                return run(*parameters)
            return gate.batch(sql, parameters[0], sqlite3, run)
        finally:
            del self, run

    def executescript(self, sql_script: str, /) -> Any:
        try:
            gate = GATES.current
            run = functools.partial(super().executescript, sql_script)
            if gate is None:
                return run()
            return gate.call(Event.STATEMENT, sql_script, sqlite3, run)
        finally:
            del self, run


class GatedConnection(sqlite3.Connection):
    """A connection whose cursors are gated, and whose own ways to execute, commit and roll back."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        timeout = options.get("timeout", arguments[1] if len(arguments) > 1 else 5.0)
        previous, MARKS.timeout_ms = MARKS.timeout_ms, _milliseconds(timeout)
        MARKS.opening += 1
        try:
            super().__init__(*arguments, **options)
        finally:
            MARKS.opening -= 1
            MARKS.timeout_ms = previous

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        if isinstance(factory, type) and issubclass(factory, sqlite3.Cursor):
            factory = gated_cursor(factory)
        return super().cursor(factory)

    # In C these three make a plain cursor, past any overridden `cursor`.

    def execute(self, *arguments: Any) -> Any:
        return super().cursor(GatedCursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return super().cursor(GatedCursor).executemany(*arguments)

    def executescript(self, *arguments: Any) -> Any:
        return super().cursor(GatedCursor).executescript(*arguments)

    def commit(self) -> None:
        gate = GATES.current
        if gate is None:
            return super().commit()
        return gate.call(Event.COMMIT, "commit()", sqlite3, super().commit)

    def rollback(self) -> None:
        gate = GATES.current
        if gate is None:
            return super().rollback()
        return gate.call(Event.ROLLBACK, "rollback()", sqlite3, super().rollback)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> Literal[False]:
        gate = GATES.current
        leave = functools.partial(super().__exit__, kind, error, trace)
        if gate is None:
            return leave()
        if kind is not None:
            return gate.call(Event.ROLLBACK, LEAVING, sqlite3, leave)
        try:
            return gate.call(Event.COMMIT, LEAVING, sqlite3, leave)
        except BaseException as failure:
            if was_injected(failure):
                # Where a commit fails, sqlite3 itself rolls back before it lets the error out.
                gate.call(Event.ROLLBACK, LEAVING, sqlite3, super().rollback)
            raise


_GATED: dict[type, type] = {sqlite3.Connection: GatedConnection, sqlite3.Cursor: GatedCursor}


def gated_connection(factory: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    """The gated counterpart of a connection class, made once for each."""
    return _below(factory, GatedConnection)


def gated_cursor(factory: type[sqlite3.Cursor]) -> type[sqlite3.Cursor]:
    """The gated counterpart of a cursor class, made once for each."""
    return _below(factory, GatedCursor)


def _below(factory: type, gated: type) -> type:
    if issubclass(factory, gated):
        return factory
    if factory not in _GATED:
        names = {"__module__": factory.__module__, "__qualname__": factory.__qualname__}
        _GATED[factory] = types.new_class(
            factory.__name__, (factory, gated), exec_body=lambda body: body.update(names)
        )
    return _GATED[factory]


def _milliseconds(timeout: Any) -> int:
    try:
        return int(float(timeout) * 1000)
    except (TypeError, ValueError):
        # sqlite3 will say so itself.
        return 5000
