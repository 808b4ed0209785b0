"""The events of watched connections that a listener can receive and answer."""

from saverproof_faults.sqlite.handles import WatchedConnection


class Listener:
    """A receiver of what happens inside SQLite, called in the thread in which it happens.

    Every method does nothing here; subclasses override those that they need. Methods must be quick,
    and must not run SQL on the connection that they are called for. An exception is kept by the
    watch and raised by ``Watch.check``; SQLite then goes on as if the listener had not answered.
    """

    ends = False
    """True if ``ended`` is wanted, which costs another call per statement."""

    def opened(self, connection: WatchedConnection) -> None:
        """A connection was opened. This method may run SQL on it."""

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        """A statement, the ``number``-th since listening started, begins to run.

        ``statement`` is its handle.
        """

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        """A statement ran to its end, or was given up."""

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        """The ``number``-th transaction with changes is about to commit.

        The result True refuses it.
        """
        return False

    def rolled_back(self, connection: WatchedConnection) -> None:
        """A transaction was rolled back, by the program or by the engine."""

    def stepping(self, connection: WatchedConnection) -> bool:
        """Some opcodes of a statement have run.

        The result True interrupts it. Only called if a progress handler was set.
        """
        return False

    def waiting(self, connection: WatchedConnection) -> None:
        """Another connection holds a lock, and SQLite gives up at once.

        Only called if a busy handler was set.
        """

    def preparing(self, connection: WatchedConnection, action: int) -> bool:
        """A statement is compiled.

        The result True denies the action. Only called if an authorizer was set.
        """
        return False

    def row_written(self, connection: WatchedConnection) -> bool:
        """A row was written.

        The result True aborts the statement. Only called if triggers were set.
        """
        return False
