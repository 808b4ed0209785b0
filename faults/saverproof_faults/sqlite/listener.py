"""What may be heard of the connections under a watch, and answered."""

from saverproof_faults.sqlite.handles import WatchedConnection


class Listener:
    """Told of what happens inside SQLite, in the thread in which it happens.

    Every method does nothing here; subclasses override what they need. They must be quick, and
    must not run SQL on the connection that they are told of. What they raise is kept by the watch
    and raised by ``Watch.check``; the engine meanwhile goes on as if nothing had been answered.
    """

    ends = False
    """Whether ``ended`` is wanted: it costs another call per statement."""

    def opened(self, connection: WatchedConnection) -> None:
        """A connection was opened. Here SQL may be run on it."""

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        """The ``number``-th statement since listening starts to run, by its SQLite handle."""

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        """A statement ran to its end, or was given up."""

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        """The ``number``-th transaction with changes is about to commit; True refuses it."""
        return False

    def rolled_back(self, connection: WatchedConnection) -> None:
        """A transaction was rolled back, by the program or by the engine."""

    def stepping(self, connection: WatchedConnection) -> bool:
        """Some opcodes have run (only where a progress handler was set); True interrupts."""
        return False

    def waiting(self, connection: WatchedConnection) -> None:
        """A lock was not to be had (only where a busy handler was set); it will not be awaited."""

    def preparing(self, connection: WatchedConnection, action: int) -> bool:
        """A statement is compiled (only where an authorizer was set); True denies the action."""
        return False

    def row_written(self, connection: WatchedConnection) -> bool:
        """A row was written (only where triggers were set); True aborts the statement."""
        return False
