"""Makes a saver's server fail: it refuses writes, ends sessions, stands still, or is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from saverproof.families.atomicity.trials.files import FailingFiles
from saverproof.savers.workspace import Workspace
from saverproof_faults import Event, Fault, Lasts, Moment, NotSettled, Plan
from saverproof_faults.servers import Lease, Need, ServerError, ServerKind, Way
from saverproof_faults.servers.keeper_client import announced
from saverproof_faults.servers.keeper_protocol import Deed, WantedPlace, telling

if TYPE_CHECKING:
    from saverproof.families.atomicity.trials.bench import CallerThread

WAYS = {
    Fault.SERVER_REFUSED: Way.REFUSE,
    Fault.SESSION_ENDED: Way.END,
    Fault.STATEMENT_CANCELLED: Way.CANCEL,
    Fault.LOCK_TIMEOUT: Way.LOCK,
    Fault.SERVER_FULL: Way.FULL,
}
BREAKS = {Moment.BEFORE: Fault.CONNECTION_RESET, Moment.AFTER: Fault.ANSWER_LOST}
"""The fault of the message at which a server is killed, by moment."""
DEATHS = {Fault.SERVER_KILLED: Deed.RESTART, Fault.FAILED_OVER: Deed.FAIL_OVER}
_BEAT_S = 0.5


@dataclass(slots=True)
class ServerWrites:
    """The writes of a server, how it can be made to fail at them, and whether it then fails for all
    who use it. If the writes were not seen, the reason.
    """

    rows: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    for_all: bool = False
    unseen: str = ""


class FailingServer:
    """Counts the writes in one workspace after another, and makes them fail.

    ``files`` are the held system calls, if there are any; ``caller`` is the thread that calls the
    saver.
    """

    def __init__(self, kind: ServerKind, files: FailingFiles | None, caller: CallerThread) -> None:
        self._address = announced()[Need.of(kind).key].address
        self._files, self._caller = files, caller
        self._workspace: Workspace | None = None
        self._fired: Callable[[], bool] = lambda: False
        self._undo: Callable[[], object] = lambda: None
        """Ends what the current plan does to the server."""

    def visit(self, workspace: Workspace) -> None:
        """Turn to a workspace: all later calls are about it."""
        self._workspace = workspace

    @contextmanager
    def counting(self) -> Iterator[ServerWrites]:
        """Count the writes and commits of a block; the result is filled in after it.

        The result only has a reason if the server cannot be made to fail, or if a table was locked.
        """
        found = ServerWrites()
        lease = self._lease()
        try:
            ways = lease.watch_writes()
        except ServerError as problem:
            lease.close()
            found.unseen = str(problem)
            yield found
            return
        with closing(lease):
            yield found
            found.rows, found.for_all = tuple(lease.written()), ways.for_all
            found.faults = tuple(fault for fault, way in WAYS.items() if way in ways.ways)

    @contextmanager
    def following(self, plan: Plan) -> Iterator[None]:
        """Fail the server by a plan, for the length of a block.

        Raises:
            NotSettled: the server could not be made to fail, as where a table is locked.
        """
        assert plan.lasts is Lasts.ONCE
        self._fired = lambda: False
        try:
            if plan.fault in WAYS:
                follows = self._writing
            elif plan.fault is Fault.STANDSTILL:
                follows = self._standing_still
            elif plan.place.event is Event.START:
                follows = self._striking_before
            else:
                follows = self._dying
            with follows(plan):
                yield
        except ServerError as problem:
            raise NotSettled(str(problem)) from problem

    def disarm(self) -> None:
        """Undo what was done to the server, because nobody waits any more for the call that it was
        done for.
        """
        undo, self._undo = self._undo, lambda: None
        with suppress(ServerError):
            undo()

    @contextmanager
    def _writing(self, plan: Plan) -> Iterator[None]:
        with closing(self._lease()) as lease:
            lease.watch_writes()
            lease.fail_write(plan.place.index, WAYS[plan.fault], plan.about)
            self._undo = lambda: self._beside(Lease.has_failed)
            try:
                yield
            finally:
                has_failed = lease.has_failed()
                self._fired = lambda: has_failed
                self._undo = lambda: None

    @contextmanager
    def _striking_before(self, plan: Plan) -> Iterator[None]:
        with closing(self._lease()) as lease:
            deeds = {Fault.SERVER_KILLED: lease.restart, Fault.FAILED_OVER: lease.fail_over}
            self._wait(deeds.get(plan.fault, lease.end_sessions))
        self._fired = lambda: True
        yield

    @contextmanager
    def _standing_still(self, plan: Plan) -> Iterator[None]:
        """Stop the server in the block, until the operation has ended or does nothing but wait."""
        worker = self._caller.worker
        with closing(self._lease()) as lease:
            self._undo = lambda: self._beside(Lease.thaw)
            worker.rescue = self._undo
            try:
                if plan.place.event is Event.START:
                    lease.freeze()
                    self._fired = lambda: True
                    yield
                else:
                    assert self._files is not None
                    self._fired = self._files.has_fired
                    with self._files.following(plan, telling(self._address, Deed.FREEZE)):
                        yield
            finally:
                worker.rescue = None
                self._wait(lease.thaw)
                self._undo = lambda: None

    @contextmanager
    def _dying(self, plan: Plan) -> Iterator[None]:
        """Kill the server at a message in the block; it runs again when the block ends."""
        files = self._files
        assert files is not None
        broken = replace(plan, fault=BREAKS[plan.place.moment])
        self._fired = files.has_fired
        with closing(self._lease()) as lease:
            try:
                with files.following(broken, telling(self._address, DEATHS[plan.fault])):
                    yield
            finally:
                self._wait(lease.wait_until_ready)

    def has_fired(self) -> bool:
        """Return whether the fault of the latest plan struck."""
        return self._fired()

    def _wait(self, work: Callable[[], object]) -> None:
        """Do the work in another thread. Meanwhile note that the server is waited for, so that the
        saver does not count as hung.
        """
        with ThreadPoolExecutor(1) as beside:
            done = beside.submit(work)
            while not wait([done], _BEAT_S).done:
                self._caller.worker.say("waiting for the server")
            done.result()

    def _lease(self) -> Lease:
        assert self._workspace is not None
        return Lease(self._address, WantedPlace(name=self._workspace.name))

    def _beside(self, deed: Callable[[Lease], object]) -> None:
        """Do something to the server with a new lease, since another thread may hang with its own
        lease.
        """
        with closing(self._lease()) as lease:
            deed(lease)
