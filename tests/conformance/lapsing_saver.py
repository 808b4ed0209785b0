"""A saver whose readers have a lock for a time, and refuse to answer once it is over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.readers import Leasing

from saverproof import Workspace, target


class LookedAt(Leasing):
    """Knows that nobody has written if a read took no longer than its lock is kept."""

    @contextmanager
    def leased(self) -> Iterator[None]:
        began = time.monotonic()
        with super().leased():
            yield
            if time.monotonic() - began > self.lease_s:
                raise TimeoutError("others may have written meanwhile: read again")


class LapsingSaver(SqliteReference):
    """Reads under a lock that is kept for half a second."""

    database_class = LookedAt


@target
@contextmanager
def lapsing(workspace: Workspace) -> Iterator[LapsingSaver]:
    with closing(LapsingSaver.at(workspace.path)) as saver:
        yield saver
