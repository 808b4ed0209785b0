"""Faults that strike at one statement, row or commit inside SQLite."""

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.kinds import Moment
from saverproof_faults.places import is_rollback
from saverproof_faults.sqlite import hooks
from saverproof_faults.sqlite.enginefault import EngineFault
from saverproof_faults.sqlite.handles import Refused, WatchedConnection
from saverproof_faults.sqlite.library import READONLY
from saverproof_faults.sqlite.watch import Watch


class CommitRefused(EngineFault):
    """A commit hook that refuses: SQLite rolls back and reports a constraint."""

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        return self.armed.hits(number) and self.armed.fire()


class Interrupt(EngineFault):
    """An interrupt at a statement's first opcode, or after its last.

    An interrupt at the first opcode of a statement that writes undoes the whole transaction. One
    after the last undoes nothing: the statement is complete, and only its answer is lost. Rollbacks
    are not interrupted: in a run that meets no other fault a rollback ends a read, and no
    application interrupts that.
    """

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._armed: tuple[WatchedConnection, int] | None = None

    def apply(self, connection: WatchedConnection) -> None:
        connection.library.calls.sqlite3_progress_handler(
            connection.handle, 1, hooks.stepping, connection.handle
        )

    def undo(self, connection: WatchedConnection) -> None:
        connection.library.calls.sqlite3_progress_handler(
            connection.handle, 0, hooks.NO_INTEGER, None
        )

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if self.at_place(number) and not is_rollback(connection.sql_of(statement)):
            self._armed = (connection, statement)
            self.armed.steps = 0
        elif self._armed is not None and self._armed[0] is connection:
            self._armed = None

    def stepping(self, connection: WatchedConnection) -> bool:
        if self._armed is None or self._armed[0] is not connection:
            return False
        statement = self._armed[1]
        self.armed.steps += 1
        if (
            self.armed.plan.place.moment is Moment.AFTER
            and connection.library.quick.sqlite3_stmt_busy(statement)
        ):
            return False
        self._armed = None
        return self.armed.fire()


class Denied(EngineFault):
    """An authorizer that denies the statement that is compiled next, once all earlier ones have
    begun.

    Setting an authorizer makes SQLite compile every statement again, so that cached statements are
    denied as well. The denied statement may be one that runs only later. Rollbacks are not denied:
    no application denies its own.
    """

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._denying = armed.plan.place.index == 1

    def apply(self, connection: WatchedConnection) -> None:
        connection.library.calls.sqlite3_set_authorizer(
            connection.handle, hooks.preparing, connection.handle
        )

    def undo(self, connection: WatchedConnection) -> None:
        connection.library.calls.sqlite3_set_authorizer(
            connection.handle, hooks.NO_AUTHORIZER, None
        )

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if number == self.armed.plan.place.index - 1:
            self._denying = True
            self.apply(connection)

    def preparing(self, connection: WatchedConnection, action: int) -> bool:
        return self._denying and self.armed.fire()


class TriggerAbort(EngineFault):
    """TEMP triggers on every table, which abort the statement at its r-th written row.

    The program's rollback brings back triggers that were dropped in its transaction. They do
    nothing while no fault is under way, and vanish with their connection.
    """

    ABORT = "raised on purpose"
    _VERBS = ("INSERT", "UPDATE", "DELETE")

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._tables: dict[int, list[str]] = {}
        self._at: WatchedConnection | None = None
        self._rows = 0

    def apply(self, connection: WatchedConnection) -> None:
        tables = connection.values(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
            "'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        create = "".join(
            f"CREATE TEMP TRIGGER IF NOT EXISTS {_name(table, verb)} "
            f"AFTER {verb} ON {_quoted(table)} "
            f"WHEN {hooks.ROW_FUNCTION}() BEGIN SELECT RAISE(ABORT, '{self.ABORT}'); END;"
            for table in tables
            for verb in self._VERBS
        )
        try:
            connection.run(create)
        except Refused as refusal:
            # A connection that only reads writes no row, and accepts no trigger.
            if refusal.code != READONLY:
                raise
        else:
            self._tables[connection.handle] = tables

    def undo(self, connection: WatchedConnection) -> None:
        drop = "".join(
            f"DROP TRIGGER IF EXISTS temp.{_name(table, verb)};"
            for table in self._tables.get(connection.handle, ())
            for verb in self._VERBS
        )
        try:
            connection.run(drop)
        except Refused as refusal:
            # The connection has become read-only since, and keeps triggers that do nothing.
            if refusal.code != READONLY:
                raise

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if self.at_place(number):
            self._at, self._rows = connection, 0
        elif self._at is connection:
            self._at = None

    def row_written(self, connection: WatchedConnection) -> bool:
        if self._at is not connection:
            return False
        self._rows += 1
        return self._rows == (self.armed.plan.place.row or 1) and self.armed.fire()


def _name(table: str, verb: str) -> str:
    return _quoted(f"saverproof_{verb.lower()}_{table}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
