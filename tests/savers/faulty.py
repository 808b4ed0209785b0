"""Connections whose statements fail on demand, before or after they were executed."""

import sqlite3
from collections.abc import Callable
from typing import Any


class Plan:
    """Which statement fails, by its number over all connections or its text; none does until it is
    armed.
    """

    def __init__(self) -> None:
        self.armed = False
        self.fails_at: int | str = -1
        self.when = "before"
        self.error: Callable[[], BaseException] = lambda: sqlite3.OperationalError("injected")
        self.rollback_fails = False
        self.statements: list[str] = []
        self.fired = False

    def run(self, sql: str, execute: Callable[[], Any]) -> Any:
        if not self.armed:
            return execute()
        self.statements.append(sql)
        if self.fails_at not in (len(self.statements) - 1, sql):
            return execute()
        self.fired = True
        if self.when == "after":
            execute()
        raise self.error()


class FaultyCursor(sqlite3.Cursor):
    """A cursor under the plan of its connection."""

    def execute(self, sql: str, parameters: Any = (), /) -> "FaultyCursor":
        plan: Plan = self.connection.plan  # type: ignore[attr-defined]
        plan.run(sql, lambda: sqlite3.Cursor.execute(self, sql, parameters))
        return self

    def executemany(self, sql: str, parameters: Any, /) -> "FaultyCursor":
        plan: Plan = self.connection.plan  # type: ignore[attr-defined]
        plan.run(sql, lambda: sqlite3.Cursor.executemany(self, sql, parameters))
        return self


def faulty_connections(plan: Plan) -> type[sqlite3.Connection]:
    """A connection class under one plan."""

    class FaultyConnection(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.plan = plan

        def cursor(self, factory: Any = FaultyCursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, parameters: Any = (), /) -> Any:
            return self.cursor().execute(sql, parameters)

        def rollback(self) -> None:
            if plan.armed and plan.rollback_fails:
                plan.rollback_fails = False
                raise sqlite3.OperationalError("injected at rollback")
            super().rollback()

    return FaultyConnection
