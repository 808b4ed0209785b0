"""The common part of all faults that SQLite itself raises."""

import os

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.listener import Listener
from saverproof_faults.sqlite.watch import Watch


class EngineFault(Listener):
    """A fault under way. ``arm`` applies it to all open connections, ``heal`` undoes it on all."""

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        self.armed = armed
        self.watch = watch

    def arm(self) -> None:
        """Prepare every open connection, before the operation starts."""
        for connection in self.watch.visited():
            # A failed opening may leave a connection behind whose folder is gone.
            if not connection.path or os.path.exists(connection.path):
                self.apply(connection)

    def heal(self) -> None:
        """Undo the fault on every connection that is still open."""
        problems: list[FaultsError] = []
        for connection in self.watch.visited():
            try:
                self.undo(connection)
            except FaultsError as problem:
                # Go on with the other connections.
                problems.append(problem)
        if problems:
            raise problems[0]

    def opened(self, connection: WatchedConnection) -> None:
        self.apply(connection)

    def apply(self, connection: WatchedConnection) -> None:
        """Prepare one connection."""

    def undo(self, connection: WatchedConnection) -> None:
        """Undo the preparation of one connection."""

    def failed(self, error_code: int) -> None:
        """Note that the program met an error of SQLite with this primary result code."""

    def at_place(self, number: int) -> bool:
        """Return whether the fault strikes at the statement with this number."""
        return not self.armed.spent and self.armed.hits(number)
