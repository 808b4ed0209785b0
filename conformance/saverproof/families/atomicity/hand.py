"""One opened saver, called and read through one API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from saverproof.execution.settled_calls import Call, awaiting, driver_of, perform
from saverproof.families.atomicity.snapshot import Snapshot, Wanted, alook, look
from saverproof.targets.opening import EventLoop


class Hand:
    """Blocks until the saver has answered, whichever the API."""

    def __init__(self, saver: Any, api: str, loop: EventLoop) -> None:
        self.saver = saver
        self._api = api
        self._loop = loop
        self._driver = driver_of(saver, api)

    def do(self, call: Call) -> None:
        """Make a call; raises what the saver raises."""
        answer = perform(self._driver, call)
        if self._api == "async":
            self._loop.run(answer)

    def awaiting(self, call: Call) -> Callable[[], Awaitable[object]]:
        """The call as something to be awaited, on the event loop."""
        return awaiting(self._driver, call)

    def look(self, wanted: Wanted) -> Snapshot:
        """Read; nothing is raised."""
        if self._api == "async":
            return self._loop.run(alook(self.saver, wanted))
        return look(self.saver, wanted)
