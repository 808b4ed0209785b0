"""The scene of two savers that are open on one store and are used by turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import lifecycle
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.judging.lifecycles import undisturbed
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.scenes.unread import LeaveUnread
from saverproof.programs.model.store import Model
from saverproof.programs.small import NEW, OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Step,
)
from saverproof.programs.theme import Theme
from saverproof.savers.execution.store import why_alone
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class TakeTurns(Scene):
    """The first or the second of two savers on the store, used from then on.

    The second one is opened at the first turn.
    """

    number: int

    about: ClassVar[Contract] = lifecycle.SAVERS_BY_TURNS

    @staticmethod
    def make(model: Model, choose: Random, theme: Theme) -> TakeTurns:
        """Go on through one of two savers."""
        del model, theme
        return TakeTurns(choose.choice((1, 2)))

    def words(self) -> str:
        return f"go on with saver {self.number} of two that are open on this store"

    def play(self, context: Context) -> None:
        answer = context.attempt(partial(context.store.turn_to, self.number))
        if isinstance(answer, Raised) and why_alone(context.store):
            # A store may admit only one saver at a time. The first one goes on.
            return

        def turn() -> None:
            if isinstance(answer, Raised):
                raise answer.error

        if undisturbed(context, self, turn, f"saver {self.number} to open"):
            context.facts.agree(self.about)

    def write(self, writer: ScriptWriter) -> None:
        writer.turn_to(self.number)


_FIRST, _SECOND = TakeTurns(1), TakeTurns(2)


def _stored(thread: str, seed: int = 0) -> Program:
    return (
        checkpoint(thread, 1, seed=seed + 1),
        batch(thread, 1, 1, 2, seed=seed),
        checkpoint(thread, 2, 1, seed=seed + 2),
        batch(thread, 2, 1, 2, seed=seed),
    )


def _asked_of_both(thread: str) -> Program:
    asked = (GetTuple(thread), ListTuples(thread))
    return (*asked, _SECOND, *asked, _FIRST)


def _stored_again_after(removal: Step) -> Program:
    """Return a program in which one saver removes what the other one stores, and stores again."""
    again = (*_stored(THREAD), *_asked_of_both(THREAD))
    return (*again, _SECOND, removal, _FIRST, *again)


_COPIED = (
    *(*_stored(THREAD), *_asked_of_both(NEW), _SECOND, CopyThread(THREAD, NEW), _FIRST),
    *(*_asked_of_both(NEW), checkpoint(NEW, 3, 2), batch(NEW, 2, 1, 2), *_asked_of_both(NEW)),
)
_SEEN_FIRST_BY_THE_OTHER = (LeaveUnread(), checkpoint(OTHER, 1), _SECOND, GetTuple(OTHER), _FIRST)
_REPLACED = (
    *_SEEN_FIRST_BY_THE_OTHER,
    *(*_stored(THREAD), _SECOND, *_stored(THREAD, 50), checkpoint(THREAD, 3, 2), _FIRST),
    *(*_asked_of_both(THREAD), *_stored(THREAD), checkpoint(THREAD, 4, 3)),
    *_asked_of_both(THREAD),
)
BY_TURNS: Mapping[str, Program] = {
    "": _REPLACED,
    "delete_thread": _stored_again_after(DeleteThread(THREAD)),
    "delete_for_runs": _stored_again_after(DeleteForRuns(("run-1",))),
    "prune": _stored_again_after(Prune((THREAD,), "delete")),
    "copy_thread": _COPIED,
}
"""Programs in which each saver changes what the other one has stored or has answered, by the
operation that they need; "" stands for put and put_writes.
"""
