"""An action of this process at a place inside SQLite, for harnesses that kill."""

from collections.abc import Callable

from saverproof_faults.errors import PlanError
from saverproof_faults.kinds import Event, Moment
from saverproof_faults.plan import Place
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.listener import Listener


class Trap(Listener):
    """A listener that calls ``action`` once, at a statement that SQLite runs or at a commit.

    After a statement means when it has run to its end: after a COMMIT the changes are durable, but
    nobody has been told. Counting starts with listening; if ``fired`` is False, the place was never
    reached.

    Raises:
        PlanError: the place is not inside SQLite.
    """

    def __init__(self, place: Place, action: Callable[[], object]) -> None:
        allowed = (Event.ENGINE_STATEMENT, Event.TRANSACTION)
        if place.event not in allowed or (
            place.event is Event.TRANSACTION and place.moment is Moment.AFTER
        ):
            raise PlanError(f"a trap inside SQLite cannot stand {place.describe()}")
        self.place = place
        self.action = action
        self.fired = False
        self.ends = place.moment is Moment.AFTER
        self._at: int | None = None

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if self.place.event is Event.ENGINE_STATEMENT and number == self.place.index:
            if self.ends:
                self._at = statement
            else:
                self._spring()

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        if statement == self._at:
            self._at = None
            self._spring()

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        if self.place.event is Event.TRANSACTION and number == self.place.index:
            self._spring()
        return False

    def _spring(self) -> None:
        self.fired = True
        self.action()
