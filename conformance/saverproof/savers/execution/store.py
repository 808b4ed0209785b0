"""A store for one program: a saver on a workspace of its own, closed and reopened as steps ask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, Self, TypeAlias

from saverproof.errors import OpeningError, describe
from saverproof.process import heartbeat
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import OwnIds, ids_for
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

WorkspaceMaker: TypeAlias = Callable[[Path, Target], AbstractContextManager[Workspace]]
"""A function that makes a workspace for a target, below a folder."""


class Store:
    """A target opened on a workspace.

    ``drivers`` has a driver for each API in use; the first is the usual one. ``ids`` are the ids
    that the saver is given if workspaces share a store; by default those of the workspace.
    ``beside`` is the saver that waits for its turn if two are open on the workspace, or None.
    ``places`` makes the workspace below the folder, and removes it.
    """

    def __init__(
        self,
        target: Target,
        folder: Path,
        loop: Loop,
        apis: tuple[str, ...],
        ids: OwnIds | None = None,
        places: WorkspaceMaker = fresh_workspace,
    ) -> None:
        self.target = target
        self.folder = folder
        self.loop = loop
        self.apis = apis
        self.ids = ids
        self.places = places
        self.drivers: tuple[ApiDriver, ...] = ()
        self.saver: Any = None
        self.beside: Any = None
        self._turn = 1
        self.calls = 0
        self.seconds = 0.0
        self._lasting = ExitStack()
        self._opened = ExitStack()
        self.workspace: Workspace

    def __enter__(self) -> Self:
        self.workspace = self._lasting.enter_context(self.places(self.folder, self.target))
        self.ids = self.ids or ids_for(self.target, self.workspace)
        try:
            self.open()
        except BaseException:
            self._lasting.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.close()
        except OpeningError as error:
            # The probe saw the target close cleanly: what fails now is what a program did to the
            # saver, such as closing it itself, and that step was judged.
            if error.stage != "closing":
                raise
        finally:
            self._lasting.close()

    def open(self) -> None:
        """Open the saver on the workspace, and call its set-up if it has one.

        Raises:
            OpeningError: the author's function raised, or gave no saver.
        """
        heartbeat.beat(0)
        self.saver = self._opened.enter_context(opened(self.target, self.workspace, self.loop))
        self.use(self.saver)

    def turn_to(self, number: int) -> None:
        """Use the first or the second of two savers from now on; the other one stays open. The
        second one is opened if it was not yet.

        Raises:
            OpeningError: it cannot be opened while the other one is open.
        """
        if self.beside is None:
            heartbeat.beat(0)
            self.beside = self._opened.enter_context(opened(self.target, self.workspace, self.loop))
        if number != self._turn:
            self._turn = number
            self.saver, self.beside = self.beside, self.saver
        self.use(self.saver)

    def use(self, saver: Any) -> None:
        """Use this saver object from now on."""
        self._count()
        self.drivers = tuple(driver_of(saver, api, self.loop, self.ids) for api in self.apis)

    def close(self) -> None:
        """Close the saver.

        Raises:
            OpeningError: closing raised.
        """
        self._count()
        heartbeat.beat(0)
        stack, self._opened, self.beside, self._turn = self._opened, ExitStack(), None, 1
        stack.close()

    def _count(self) -> None:
        for driver in self.drivers:
            self.calls += driver.calls
            self.seconds += driver.seconds
            driver.calls, driver.seconds = 0, 0.0

    def reopen(self) -> None:
        """Close and open again, as a new start of the application does.

        Raises:
            OpeningError: closing or opening raised.
        """
        try:
            self.close()
        finally:
            self.open()

    def reopen_closed(self) -> None:
        """Open again after something else closed the saver.

        Raises:
            OpeningError: opening raised.
        """
        with suppress(OpeningError):
            self.close()
        self.open()

    @property
    def total_calls(self) -> int:
        """The number of operations that the saver was asked for."""
        return self.calls + sum(driver.calls for driver in self.drivers)

    @property
    def total_seconds(self) -> float:
        """Seconds spent inside the saver."""
        return self.seconds + sum(driver.seconds for driver in self.drivers)


def why_alone(store: Store) -> str:
    """Return why no saver can be opened beside another one of a store's target, tried on an empty
    workspace; "" if one can.
    """
    with Store(store.target, store.folder, store.loop, store.apis) as empty:
        try:
            empty.turn_to(2)
        except OpeningError as error:
            return error.message
    return ""


def set_up(saver: Any, loop: Loop) -> None:
    """Call the saver's ``setup``, sync or async, if it has one.

    Raises:
        OpeningError: it raised.
    """
    setup = getattr(saver, "setup", None)
    if setup is None:
        return
    try:
        answer = setup()
        if hasattr(answer, "__await__"):
            loop.run(_awaited(answer))
    except Exception as error:
        raise OpeningError(f"setup() raised {describe(error)}") from error


async def _awaited(answer: Any) -> Any:
    return await answer
