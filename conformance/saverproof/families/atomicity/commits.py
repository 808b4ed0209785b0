"""How far a transaction had come when the fault fired."""

from __future__ import annotations

from collections.abc import Callable

from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.listener import Listener


class CommitsBefore(Listener):
    """Counts the transactions that reach their commit before ``fired`` says that all went well."""

    def __init__(self, fired: Callable[[], bool]) -> None:
        self._fired = fired
        self.commits = 0

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        """Count, and refuse nothing."""
        if not self._fired():
            self.commits += 1
        return False
