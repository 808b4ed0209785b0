"""What every fault raised by SQLite has in common."""

import os

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.listener import Listener
from saverproof_faults.sqlite.watch import Watch


class EngineFault(Listener):
    """A fault under way. ``arm`` applies it to what is open, ``heal`` undoes it everywhere."""

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        self.armed = armed
        self.watch = watch

    def arm(self) -> None:
        """Get ready, before the operation starts."""
        for connection in self.watch.visited():
            # One that an opening which failed has left behind, in a folder that is gone.
            if not connection.path or os.path.exists(connection.path):
                self.apply(connection)

    def heal(self) -> None:
        """Undo it on every connection that is still open."""
        problems: list[FaultsError] = []
        for connection in self.watch.visited():
            try:
                self.undo(connection)
            except FaultsError as problem:
                # Each of the others all the same.
                problems.append(problem)
        if problems:
            raise problems[0]

    def opened(self, connection: WatchedConnection) -> None:
        self.apply(connection)

    def apply(self, connection: WatchedConnection) -> None:
        """Make one connection ready."""

    def undo(self, connection: WatchedConnection) -> None:
        """Make one connection as it was."""

    def failed(self, error_code: int) -> None:
        """The program met an error of SQLite with this primary result code."""

    def at_place(self, number: int) -> bool:
        """Whether the statement of this number is where the fault strikes."""
        return not self.armed.spent and self.armed.hits(number)
