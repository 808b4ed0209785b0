"""Record what SQLite runs in a clean operation, statement by statement."""

from dataclasses import dataclass, field

from saverproof_faults.places import Statement
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.sqlite.handles import Refused, TransactionState, WatchedConnection
from saverproof_faults.sqlite.listener import Listener
from saverproof_faults.sqlite.watch import Watch


@dataclass(slots=True)
class _Running:
    number: int
    handle: int
    sql: str
    connection: WatchedConnection
    writes: bool
    locks: bool
    proxied: bool
    rows_before: int
    rows: int = 0
    commits: bool = False
    finished: bool = False


@dataclass(slots=True)
class _Database:
    path: str
    pages: int | None


@dataclass(eq=False)
class StatementRecorder(Listener):
    """A listener that records what it receives, until ``finish``."""

    watch: Watch
    statements: list[Statement] = field(default_factory=list)
    transactions: int = 0
    rollbacks: int = 0
    grew: bool = False
    rollback_journal: bool = False
    ends = True
    _running: list[_Running] = field(default_factory=list)
    _by_handle: dict[int, _Running] = field(default_factory=dict)
    _latest: dict[int, _Running] = field(default_factory=dict)
    _databases: dict[int, _Database] = field(default_factory=dict)

    def start(self) -> None:
        """Note the databases as they are."""
        for connection in self.watch.visited():
            self._note(connection)

    def finish(self) -> None:
        """Compare the databases with before, and make ``statements`` of what was recorded."""
        for connection in self.watch.visited():
            known = self._databases.get(connection.handle)
            now = _pages(connection)
            if known is not None and known.pages is not None and now is not None:
                self.grew |= now > known.pages
        committing = {running.connection.handle for running in self._running if running.commits}
        for connection in self.watch.visited():
            if connection.handle in committing and connection.path:
                mode = connection.values("PRAGMA journal_mode")[0]
                self.rollback_journal |= mode in ("delete", "truncate", "persist")
        self.statements = [_frozen(running) for running in self._running]

    @property
    def unproxied_connections(self) -> int:
        """Number of connections that ran statements and were opened through no proxy."""
        return len(
            {
                running.connection.number
                for running in self._running
                if not (running.proxied or running.connection.proxied)
            }
        )

    def opened(self, connection: WatchedConnection) -> None:
        self._note(connection)

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        quick = connection.library.quick
        writes = not quick.sqlite3_stmt_readonly(statement)
        database = self._databases.get(connection.handle)
        running = _Running(
            number=number,
            handle=statement,
            sql=connection.sql_of(statement),
            connection=connection,
            writes=writes,
            locks=writes
            and bool(database and database.path)
            and connection.transaction_state is not TransactionState.WRITE,
            proxied=bool(FLAGS.inside),
            rows_before=connection.rows_changed,
        )
        self._running.append(running)
        self._by_handle[statement] = running
        self._latest[connection.handle] = running

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        running = self._by_handle.pop(statement, None)
        if running is not None:
            running.finished = True
            running.rows = connection.rows_changed - running.rows_before

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        self.transactions = max(self.transactions, number)
        running = self._latest.get(connection.handle)
        if running is not None:
            running.commits = True
        return False

    def rolled_back(self, connection: WatchedConnection) -> None:
        self.rollbacks += 1

    def _note(self, connection: WatchedConnection) -> None:
        path = connection.path
        self._databases[connection.handle] = _Database(path, _pages(connection))


def _pages(connection: WatchedConnection) -> int | None:
    try:
        return int(connection.values("PRAGMA page_count")[0])
    except Refused:
        # Another connection has locked the database: there is nothing to compare with.
        return None


def _frozen(running: _Running) -> Statement:
    return Statement(
        number=running.number,
        sql=running.sql,
        connection=running.connection.number,
        writes=running.writes,
        rows=running.rows,
        locks=running.locks,
        commits=running.commits,
        finished=running.finished,
        proxied=running.proxied,
    )
