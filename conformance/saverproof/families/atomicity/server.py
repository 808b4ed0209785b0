"""The server of a saver, which fails at the rows that it writes, ends sessions, or is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import replace

from saverproof.families.atomicity.files import FailingFiles
from saverproof.workspace import Workspace
from saverproof_faults import Event, Fault, Lasts, Moment, NotSettled, Plan
from saverproof_faults.servers import Lease, Need, ServerError, ServerKind
from saverproof_faults.servers.keeping import announced, killing
from saverproof_faults.servers.orders import Wanted
from saverproof_faults.servers.postgres_writes import END, REFUSE

WAYS = {Fault.SERVER_REFUSED: REFUSE, Fault.SESSION_ENDED: END}
BREAKS = {Moment.BEFORE: Fault.CONNECTION_RESET, Moment.AFTER: Fault.ANSWER_LOST}
"""What becomes of the message at which a server is killed."""
_BEAT_S = 0.5


class FailingServer:
    """Counts and fails what is written in one workspace after the other.

    ``files`` are the held calls, if there are any; ``beat`` is called while a server starts.
    """

    def __init__(
        self, kind: ServerKind, files: FailingFiles | None, beat: Callable[[], object]
    ) -> None:
        self._address = announced()[Need.of(kind).key].address
        self._files, self._beat = files, beat
        self._workspace: Workspace | None = None
        self._fired: Callable[[], bool] = lambda: False

    def visit(self, workspace: Workspace) -> None:
        """What follows is about this workspace."""
        self._workspace = workspace

    @contextmanager
    def counting(self) -> Iterator[list[str]]:
        """A list that holds, after the block, the rows that were written in it and committed.

        It is empty if the server cannot be made to fail, or a table was locked.
        """
        found: list[str] = []
        try:
            lease = self._watched()
        except ServerError:
            yield found
            return
        with closing(lease):
            yield found
            found += lease.written()

    @contextmanager
    def following(self, plan: Plan) -> Iterator[None]:
        """Follow one plan for the length of a block.

        Raises:
            NotSettled: the server could not be made to fail, as where a table is locked.
        """
        assert plan.lasts is Lasts.ONCE
        self._fired = lambda: False
        try:
            if plan.fault in WAYS:
                with self._writing(plan):
                    yield
            elif plan.place.event is Event.START:
                with closing(self._lease()) as lease:
                    self._wait(
                        lease.restart if plan.fault is Fault.SERVER_KILLED else lease.end_sessions
                    )
                self._fired = lambda: True
                yield
            else:
                with self._dying(plan):
                    yield
        except ServerError as problem:
            raise NotSettled(str(problem)) from problem

    @contextmanager
    def _writing(self, plan: Plan) -> Iterator[None]:
        with closing(self._watched()) as lease:
            lease.fail_write(plan.place.index, WAYS[plan.fault])
            try:
                yield
            finally:
                has_failed = lease.has_failed()
                self._fired = lambda: has_failed

    @contextmanager
    def _dying(self, plan: Plan) -> Iterator[None]:
        """The server is killed at a message, and runs again when the block ends."""
        files = self._files
        assert files is not None
        broken = replace(plan, fault=BREAKS[plan.place.moment])
        self._fired = files.has_fired
        with closing(self._lease()) as lease:
            try:
                with files.following(broken, killing(self._address)):
                    yield
            finally:
                self._wait(lease.wait_until_ready)

    def has_fired(self) -> bool:
        """Whether the plan that was followed last has failed a write, or the server."""
        return self._fired()

    def _wait(self, work: Callable[[], object]) -> None:
        """Do it beside: it is not the saver that does not answer."""
        with ThreadPoolExecutor(1) as beside:
            done = beside.submit(work)
            while not wait([done], _BEAT_S).done:
                self._beat()
            done.result()

    def _lease(self) -> Lease:
        assert self._workspace is not None
        return Lease(self._address, Wanted(name=self._workspace.name))

    def _watched(self) -> Lease:
        lease = self._lease()
        try:
            lease.watch_writes()
        except BaseException:
            lease.close()
            raise
        return lease
