"""The scene of what is stored and not read before something else happens."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import lifecycle
from saverproof.judging.context import Context
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model.store import Model
from saverproof.programs.small import NEW, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    ListTuples,
    Program,
    Prune,
    Reopen,
)
from saverproof.programs.theme import Theme
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class LeaveUnread(Scene):
    """What the next step stores is not read before the step after that.

    What other steps store is read at once. A saver that stores only when it is next read would then
    seem right.
    """

    about: ClassVar[Contract] = lifecycle.REOPEN

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> LeaveUnread:
        """Leave what is stored next unread."""
        del model, choose, theme
        return LeaveUnread()

    def words(self) -> str:
        return "read nothing after the next step"

    def play(self, context: Context) -> None:
        """Do nothing: the session knows what this step was when it takes the next one."""

    def write(self, writer: ScriptWriter) -> None:
        """Write nothing: scripts read only what they complain about."""


_PUT, _BATCH = checkpoint(THREAD, 1), batch(THREAD, 1, 1, 2)
REOPENED: Program = (*(LeaveUnread(), _PUT, Reopen()), *(LeaveUnread(), _BATCH, Reopen()))
REMOVED: tuple[Program, ...] = (
    (LeaveUnread(), _PUT, DeleteThread(THREAD)),
    (LeaveUnread(), _PUT, CopyThread(THREAD, NEW)),
    (_PUT, LeaveUnread(), checkpoint(THREAD, 2, 1), Prune((THREAD,), "keep_latest")),
)
"""A thread that is deleted, copied and pruned. Before runs are deleted, all is read that was not:
which checkpoints go follows from the run ids that the saver shows.
"""
LISTED: Program = (
    *(_PUT, LeaveUnread(), checkpoint(THREAD, 2, 1), ListTuples(THREAD)),
    *(LeaveUnread(), batch(THREAD, 2, 1, 2), ListTuples(THREAD)),
)
