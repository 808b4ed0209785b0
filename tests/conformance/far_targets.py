"""Right savers that take their time, as those on a server far away do."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tests.reference.sqlite import SqliteReference

from saverproof import target
from saverproof.savers.facts import METHODS
from saverproof.savers.workspace import Workspace


def _waiting(name: str) -> Any:
    inner = getattr(SqliteReference, name)

    @functools.wraps(inner)
    def call(self: FarAway, *arguments: Any, **named: Any) -> Any:
        time.sleep(self.call_s)
        return inner(self, *arguments, **named)

    return call


class FarAway(SqliteReference):
    """Each operation goes a long way, the async ones by way of the sync ones."""

    call_s: ClassVar[float] = 0.02
    open_s: ClassVar[float] = 0.2

    @classmethod
    @contextmanager
    def opened(cls, workspace: Workspace) -> Iterator[FarAway]:
        time.sleep(cls.open_s)
        saver = cls.at(workspace.path)
        try:
            yield saver
        finally:
            saver.close()


for _name in METHODS["sync"].values():
    setattr(FarAway, _name, _waiting(_name))


class RatherFar(FarAway):
    """Not as far, for tests."""

    call_s = 0.004
    open_s = 0.06


far_away = target(name="far-away")(FarAway.opened)
rather_far = target(name="rather-far")(RatherFar.opened)
