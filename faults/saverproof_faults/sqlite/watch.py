"""Watch every connection that this process opens by ``sqlite3``, and all that SQLite does on it.

However a connection is opened (``from sqlite3 import connect``, a subclass, aiosqlite, SQLAlchemy),
SQLite calls an automatic extension, and there the watch begins. Events are passed to listeners.
While there is none, a watched connection runs at full speed.

    with Watch() as watch:
        connection = sqlite3.connect("a.db")
        with watch.listening(listener):
            ...                             # the listener hears each statement, row and commit

Connections opened before the watch are not seen. A program that sets a trace callback of its own
(``set_trace_callback``) hides its connection until the next listener comes.
"""

import itertools
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from saverproof_faults.collecting import HELD_OFF, hold_off
from saverproof_faults.errors import FaultsError, HookFailed
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.sqlite import hooks
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.library import OK, Library, library
from saverproof_faults.sqlite.listener import Listener


class Watch:
    """A context manager that watches connections. Only one can be entered in a process at a time.

    Raises:
        Unavailable: SQLite's library cannot be reached; raised on entering.
        FaultsError: another watch is active; raised on entering.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._live: dict[int, WatchedConnection] = {}
        self._changing = threading.Lock()
        self._problems: list[BaseException] = []
        self._opened = 0
        self._opening = threading.Lock()
        self._statements = itertools.count(1)
        self._transactions = itertools.count(1)
        self._library: Library | None = None
        self._given_up: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    def __enter__(self) -> Self:
        found = library()
        if hooks.CURRENT.receiver is not None:
            raise FaultsError("another watch of SQLite is active in this process")
        hooks.CURRENT.receiver = self
        if found.calls.sqlite3_auto_extension(hooks.opened) != OK:
            hooks.CURRENT.receiver = None
            raise FaultsError("SQLite refuses the automatic extension")
        self._library = found
        return self

    def __exit__(self, *exc_info: object) -> None:
        for listener in self._listeners:
            self.unlisten(listener)
        self._known_library.calls.sqlite3_cancel_auto_extension(hooks.opened)
        hooks.CURRENT.receiver = None
        self._live.clear()
        self.check()

    @property
    def connections(self) -> tuple[WatchedConnection, ...]:
        """The connections that are open now, in the order in which they were opened."""
        return tuple(self._live.values())

    def visited(self) -> Iterator[WatchedConnection]:
        """Yield the open connections one by one; each is still open when it is yielded.

        A collection of garbage may close connections that the program has dropped, even in the
        middle of this. To a thread that was given up, nothing is yielded: what is open now is used
        by others.
        """
        if self._is_given_up():
            return
        hold_off()
        with HELD_OFF:
            for connection in self.connections:
                if self._live.get(connection.handle) is connection:
                    yield connection

    def give_up(self, thread: threading.Thread) -> None:
        """Forget the connections that are open, and see nothing of what a thread opens from now on
        in which a call of the program does not return.

        If it returns after all, it may close these connections at any time, and SQLite's memory of
        a connection that another thread looks at would be freed. Threads of the program itself are
        still seen: one of them may serve all that is opened later.
        """
        self._given_up.add(thread)
        self._live.clear()

    def _is_given_up(self) -> bool:
        return bool(self._given_up) and threading.current_thread() in self._given_up

    @property
    def opened(self) -> int:
        """Number of connections that were opened under this watch, closed ones included."""
        return self._opened

    def check(self) -> None:
        """Raise HookFailed if a callback or a listener raised since the last check."""
        problems, self._problems = self._problems, []
        if problems:
            raise HookFailed(
                f"a hook inside SQLite raised {problems[0]!r} ({len(problems)} in all)"
            ) from problems[0]

    def listen(self, listener: Listener) -> None:
        """Pass events to ``listener`` from now on.

        Statements and transactions are counted from 1 again.
        """
        with self._changing:
            self._statements = itertools.count(1)
            self._transactions = itertools.count(1)
            self._listeners += (listener,)
            for connection in self.visited():
                self._attach(connection)

    def unlisten(self, listener: Listener) -> None:
        """Pass no more events to ``listener``."""
        with self._changing:
            self._listeners = tuple(other for other in self._listeners if other is not listener)
            if not self._listeners:
                for connection in self.visited():
                    hooks.detach(self._known_library, connection.handle)

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Pass events to ``listener`` for the length of a block, then ``check``."""
        self.listen(listener)
        try:
            yield
        finally:
            self.unlisten(listener)
        self.check()

    @property
    def _known_library(self) -> Library:
        if self._library is None:
            raise FaultsError("the watch has not been entered")
        return self._library

    def _attach(self, connection: WatchedConnection) -> None:
        ends = any(listener.ends for listener in self._listeners)
        hooks.attach(self._known_library, connection.handle, ends=ends)

    # The callbacks call the methods below. The order of statements is the order of these calls.

    def on_open(self, handle: int) -> None:
        """Receive an event (see hooks.Receiver), as the methods below do."""
        if self._is_given_up():
            return
        found = self._known_library
        with self._opening:
            self._opened += 1
            number = self._opened
        connection = WatchedConnection(handle, number, bool(FLAGS.opening), FLAGS.timeout_ms, found)
        hooks.mark(found, handle)
        self._live[handle] = connection
        if self._listeners:
            self._attach(connection)
            for listener in self._listeners:
                listener.opened(connection)

    def on_close(self, handle: int) -> None:
        self._live.pop(handle, None)

    def on_begin(self, handle: int, statement: int) -> None:
        if (connection := self._live.get(handle)) is not None:
            number = next(self._statements)
            for listener in self._listeners:
                listener.began(connection, number, statement)

    def on_end(self, handle: int, statement: int) -> None:
        if (connection := self._live.get(handle)) is not None:
            for listener in self._listeners:
                listener.ended(connection, statement)

    def on_commit(self, handle: int) -> bool:
        if (connection := self._live.get(handle)) is None:
            return False
        number = next(self._transactions)
        # Every listener is asked, whatever an earlier one answered.
        answers = [listener.committing(connection, number) for listener in self._listeners]
        return True in answers

    def on_rollback(self, handle: int) -> None:
        if (connection := self._live.get(handle)) is not None:
            for listener in self._listeners:
                listener.rolled_back(connection)

    def on_step(self, handle: int) -> bool:
        connection = self._live.get(handle)
        return connection is not None and any(
            listener.stepping(connection) for listener in self._listeners
        )

    def on_wait(self, handle: int) -> None:
        if (connection := self._live.get(handle)) is not None:
            for listener in self._listeners:
                listener.waiting(connection)

    def on_prepare(self, handle: int, action: int) -> bool:
        connection = self._live.get(handle)
        return connection is not None and any(
            listener.preparing(connection, action) for listener in self._listeners
        )

    def on_row(self, handle: int) -> bool:
        connection = self._live.get(handle)
        return connection is not None and any(
            listener.row_written(connection) for listener in self._listeners
        )

    def on_problem(self, problem: BaseException) -> None:
        self._problems.append(problem)
