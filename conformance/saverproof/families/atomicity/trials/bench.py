"""The common part of all trials of an item: the target, its folder, and the fault layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from saverproof.families.atomicity.trials.disk import FailingDisk, watched
from saverproof.families.atomicity.trials.files import FailingFiles, FailingStorage
from saverproof.families.atomicity.trials.first_look import FirstLook, first_look, opens_in_sqlite
from saverproof.families.atomicity.trials.server import FailingServer, ServerWrites
from saverproof.families.atomicity.trials.worker import SlowError, UnansweredError, Worker
from saverproof.families.drivers import CutsConnections, with_loaded
from saverproof.families.items import ItemPlan
from saverproof.process.scratch import in_memory
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.targets.event_loop import Loop, loop_for
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults import ArmedPlan, Event, FaultsError, Injector, NotSettled, Plan
from saverproof_faults import Driver as FaultDriver
from saverproof_faults.places import OUTAGES, SERVER_FAULTS
from saverproof_faults.servers import serving_apart
from saverproof_faults.syscalls import SystemCall, available

T = TypeVar("T")
_LINGERS_S = 0.5
"""Several times what a service takes for one request, which is seldom over 0.1 s."""
OF_SERVERS = frozenset({*SERVER_FAULTS, *OUTAGES})


class CallerThread:
    """The thread in which a saver is called, and the saver's event loop, until the block ends."""

    def __init__(self, api: str) -> None:
        self._api = api
        self._files: FailingFiles | None = None
        self._given_up: list[tuple[Worker, Loop]] = []
        self._loop, self._worker = loop_for(api), Worker()

    @property
    def worker(self) -> Worker:
        """Return the worker in use. On the thread of a worker that was given up, return that old
        worker, so that the work there ends and disturbs nobody.
        """
        return self._here[0]

    @property
    def loop(self) -> Loop:
        """Return the saver's event loop in use. On the thread of a worker that was given up, return
        that worker's loop: on the one in use, its saver would get in the way of the next trial.
        """
        return self._here[1]

    @property
    def _here(self) -> tuple[Worker, Loop]:
        used = (self._worker, self._loop)
        return next((given_up for given_up in self._given_up if given_up[0].is_here), used)

    def hold(self, files: FailingFiles) -> None:
        """Go on with a new thread and loop. Their system calls are held, and those of all threads
        that they start.
        """
        self.close()
        self._files = files
        self.start()

    def start(self, *patience_s: float) -> None:
        """Start a new thread and a new loop."""
        self._loop, self._worker = loop_for(self._api), Worker(*patience_s)
        if self._files is not None:
            self._worker.run(self._files.cover)

    def release(self) -> None:
        """Go on with a new thread and loop, whose system calls are not held."""
        self.close()
        self._files = None
        self.start()

    def look(
        self, target: Target, folder: Path, watch: Callable[[], FailingFiles | None]
    ) -> tuple[FirstLook, FailingFiles | None]:
        """Return the first look at the saver, and the ``watch`` over its system calls, if it needs
        one. If the saver does not answer, the clean runs report that.

        If system calls have to be held, that begins before the saver is used: a thread that the
        saver starts only once could not be covered later.

        Raises:
            OpeningError: the saver could not be opened or closed.
        """
        files: FailingFiles | None = None
        try:
            if not self.worker.run(lambda: opens_in_sqlite(target, folder, self.loop)):
                files = self._held(watch)
            look = self.worker.run(lambda: first_look(target, folder, self._api, self.loop))
        except UnansweredError:
            self.renew()
            look = FirstLook()
        if look.in_sqlite and files is not None:
            self.release()
            return look, None
        return look, files if look.in_sqlite or files is not None else self._held(watch)

    def _held(self, watch: Callable[[], FailingFiles | None]) -> FailingFiles | None:
        files = watch()
        if files is not None:
            self.hold(files)
        return files

    def renew(self) -> None:
        """Go on with a new thread and loop: the saver hangs in those in use."""
        patience_s = self.worker.patience_s
        self._given_up.append((self._worker, self._loop))
        self._worker.close()
        _stop(self.loop)
        self.start(patience_s)

    def close(self) -> None:
        """End the thread and the loop."""
        self.worker.close()
        self.loop.close()


@dataclass(slots=True)
class FaultBench:
    """The things that all trials of an item share.

    ``fresh`` says that a second saver can be opened while the first one is open; ``alone`` says why
    not, if that is a surprise. ``disk`` makes SQLite's I/O fail; it is None if nothing can.
    ``files`` makes other files and connections fail. It is None if the saver keeps only SQLite
    databases or no files, or if system calls cannot be held. ``server`` is the server that the
    target has asked for. ``losing`` are the drivers whose connections can be cut.
    """

    target: Target
    folder: Path
    api: str
    fresh: bool
    alone: str
    injector: Injector
    disk: FailingDisk | None
    files: FailingFiles | None
    server: FailingServer | None
    losing: tuple[CutsConnections, ...]
    caller: CallerThread
    calls: int = 0
    seconds: float = 0.0
    passed: set[str] = field(default_factory=set)
    """The sorts of places that calls of the saver have passed."""
    lingering_s: float = 0.0
    """Seconds to wait after a cancelled call, beyond the work that can be seen (see ``linger``)."""

    @classmethod
    @contextmanager
    def opened(
        cls, plan: ItemPlan, target: Target, drivers: Sequence[FaultDriver]
    ) -> Iterator[FaultBench]:
        """Open a bench with its fault layers, until the block ends.

        Raises:
            OpeningError: the saver could not be opened or closed.
        """
        folder = Path(plan.folder)
        with ExitStack() as stack, closing(CallerThread(plan.api)) as caller:
            holds = target.durable and available() is None and not target.is_pooled
            # This is left last, when no thread is left whose calls it holds.
            look, files = caller.look(
                target,
                folder,
                lambda: stack.enter_context(FailingFiles(folder)) if holds else None,
            )
            drivers = with_loaded(drivers)
            with Injector(drivers) as injector, watched(folder) as disk:
                losing = tuple(driver for driver in drivers if isinstance(driver, CutsConnections))
                shared = target.durable and "many_processes" in plan.facts["capabilities"]
                fresh, alone = shared and not look.alone, look.alone if shared else ""
                below = (disk, files, _server_of(target, files, caller))
                yield cls(target, folder, plan.api, fresh, alone, injector, *below, losing, caller)

    @contextmanager
    def own_server(self, *, proxied: bool = False) -> Iterator[None]:
        """Use a server in the block that nobody else uses, so that anything may be done to it.
        Behind a proxy, another server can take its address.

        Raises:
            ServerUnavailable: there is no such server.
        """
        target, before = self.target, self.server
        assert target.server is not None
        with serving_apart(target.server, in_memory(), proxied=proxied):
            self.server = _server_of(target, self.files, self.caller)
            try:
                yield
            finally:
                self.server = before

    @property
    def worker(self) -> Worker:
        """The thread in which the saver is called."""
        return self.caller.worker

    @property
    def loop(self) -> Loop:
        """The event loop for the saver."""
        return self.caller.loop

    @contextmanager
    def armed(self, *plans: Plan) -> Iterator[ArmedPlan]:
        """Arm plans of faults above the storage for a block, and yield the first plan.

        Raises:
            AbandonedError: nobody waits any more for what the block does.
        """
        worker = self.worker
        worker.say("arming a fault")
        shot, *_ = self.injector.arm(*plans)
        try:
            yield shot
        finally:
            # A trial that was given up must not heal what the next one has armed.
            if not worker.abandoned:
                self.injector.heal()

    def linger(self) -> bool:
        """Wait from now on after each cancelled call, for a service elsewhere to end what it was
        sent before its caller was gone. Return whether that is new.

        Nothing here tells that such a service is still at work, and most savers have none: so this
        begins where a trial has gone wrong without it.
        """
        new, self.lingering_s = not self.lingering_s, _LINGERS_S
        return new

    def hurry(self) -> None:
        """Wait no more than for work that can be seen."""
        self.lingering_s = 0.0

    def storage(self, plan: Plan) -> FailingStorage:
        """Return the layer below the saver that can carry out this plan."""
        below: FailingStorage | None = self.disk
        if plan.fault in OF_SERVERS:
            below = self.server
        elif plan.place.event in (Event.SYSTEM_CALL, Event.SEND):
            below = self.files
        assert below is not None
        return below

    def counting_held(self) -> AbstractContextManager[list[SystemCall]]:
        """Yield a list of the calls on files and connections within a block; empty if none are
        held.
        """
        return nullcontext([]) if self.files is None else self.files.counting()

    def counting_writes(self) -> AbstractContextManager[ServerWrites]:
        """Yield what the server writes within a block; nothing if the server does not report it."""
        return nullcontext(ServerWrites()) if self.server is None else self.server.counting()

    @property
    def connections_opened(self) -> int | None:
        """The number of connections that Python's own SQLite has opened so far; None if it is not
        known.
        """
        injector = self.injector
        return None if injector.engine_unavailable is not None else injector.watch.opened

    def on_worker(self, work: Callable[[], T]) -> T:
        """Do the work on the worker's thread.

        Raises:
            UnansweredError: a call of the saver does not return, or leaves work that is not done.
        """
        try:
            return self.worker.run(work)
        except NotSettled as undone:
            raise SlowError(str(undone)) from undone

    def renew(self) -> None:
        """Go on with another thread and another event loop: the saver hangs in those in use."""
        if self.files is not None:
            # Callers that wait for a silent server now get an error, and end.
            self.files.disarm()
        # A call that hangs may block the healing of its own connection; the others are healed.
        with suppress(FaultsError):
            self.injector.heal()
        self.injector.watch.give_up(self.worker.thread)
        if self.disk is not None:
            self.disk.disarm()
        if self.server is not None:
            self.server.disarm()
        self.caller.renew()

    def driver(self, saver: Any, workspace: Workspace) -> ApiDriver:
        """Return a driver that calls a workspace's saver through this item's API."""
        return driver_of(saver, self.api, self.loop, ids_for(self.target, workspace))


def _server_of(
    target: Target, files: FailingFiles | None, caller: CallerThread
) -> FailingServer | None:
    if target.server is None:
        return None
    return FailingServer(target.server, files, caller)


_BLOCKED: list[Loop] = []
"""Loops whose thread hangs inside a saver. They are kept until the process ends."""


def _stop(loop: Loop) -> None:
    """Close a loop; one that is blocked is left alone."""
    if loop.is_blocked():
        _BLOCKED.append(loop)
    else:
        loop.close()
