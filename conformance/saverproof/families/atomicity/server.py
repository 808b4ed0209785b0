"""The server of a saver, which is made to fail at the rows that it writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from saverproof.workspace import Workspace
from saverproof_faults import Fault, Lasts, NotSettled, Plan
from saverproof_faults.servers import Lease, Need, ServerError, ServerKind
from saverproof_faults.servers.keeping import announced
from saverproof_faults.servers.orders import Wanted
from saverproof_faults.servers.postgres_writes import END, REFUSE

WAYS = {Fault.SERVER_REFUSED: REFUSE, Fault.SESSION_ENDED: END}


class FailingServer:
    """Counts and fails what is written in one workspace after the other."""

    def __init__(self, kind: ServerKind) -> None:
        self._address = announced()[Need.of(kind).key].address
        self._workspace: Workspace | None = None
        self._fired = False

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
            lease = self._visited()
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
        self._fired = False
        try:
            with closing(self._visited()) as lease:
                lease.fail_write(plan.place.index, WAYS[plan.fault])
                try:
                    yield
                finally:
                    self._fired = lease.has_failed()
        except ServerError as problem:
            raise NotSettled(str(problem)) from problem

    def has_fired(self) -> bool:
        """Whether the plan that was followed last has failed a write."""
        return self._fired

    def _visited(self) -> Lease:
        assert self._workspace is not None
        lease = Lease(self._address, Wanted(name=self._workspace.name))
        try:
            lease.watch_writes()
        except BaseException:
            lease.close()
            raise
        return lease
