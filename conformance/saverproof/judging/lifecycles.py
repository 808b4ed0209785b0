"""Takes the steps of a saver's life: reopening, set-up, closing, clones, abandoned listings."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

from saverproof.errors import OpeningError
from saverproof.execution.calls import address_config
from saverproof.execution.store import set_up
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.store_check import survey
from saverproof.steps.definitions import (
    AbandonList,
    Clone,
    CloseAgain,
    CloseClone,
    DropClone,
    Reopen,
    SetUp,
    Step,
)


def _undisturbed(
    session: Session, step: Step, contract: str, change: Callable[[], Any], expected: str
) -> None:
    """Do something after which everything must look as before."""
    session.last_change = step
    answer = session.attempt(change)
    if isinstance(answer, Raised):
        if isinstance(step, AbandonList) and session.unreadable:
            return
        session.sheet.differ(contract, "raised", None, expected, answer)
        if isinstance(answer.error, OpeningError) and not session.store.drivers:
            raise answer.error
        return
    known = len(session.sheet.differences)
    survey(session)
    if len(session.sheet.differences) == known and session.model.threads:
        session.sheet.agree(contract)


@perform.register
def _(step: Reopen, session: Session) -> None:
    _undisturbed(session, step, "lifecycle/reopen", session.store.reopen, "the saver to open again")


@perform.register
def _(step: SetUp, session: Session) -> None:
    def again() -> None:
        set_up(session.store.saver, session.store.loop)

    _undisturbed(session, step, "lifecycle/setup-idempotent", again, "the store to be set up again")


@perform.register
def _(step: CloseAgain, session: Session) -> None:
    saver = session.store.saver

    def twice() -> None:
        try:
            for _ in range(2):
                _close(session, saver)
        finally:
            session.store.reopen_closed()

    if _closers(saver):
        _undisturbed(session, step, "lifecycle/close-idempotent", twice, "closing to be harmless")


def _closers(saver: Any) -> list[Callable[[], Any]]:
    """The methods that close a saver, for the sync API and the async one."""
    return [getattr(saver, name) for name in ("close", "aclose") if hasattr(saver, name)]


def _close(session: Session, saver: Any) -> None:
    for close in _closers(saver):
        answer = close()
        if hasattr(answer, "__await__"):
            session.store.loop.run(_awaited(answer))


async def _awaited(answer: Any) -> Any:
    return await answer


@perform.register
def _(step: AbandonList, session: Session) -> None:
    config = address_config(session.real(step.thread), None, None)
    _undisturbed(
        session,
        step,
        "lifecycle/abandoned-list",
        lambda: session.reader.first_listed(config),
        "the first item of the listing",
    )


@perform.register
def _(step: Clone, session: Session) -> None:
    def clone() -> None:
        copied = copy.copy(session.store.saver)
        copied.serde = copy.copy(copied.serde)
        session.store.use(copied)

    _undisturbed(session, step, "lifecycle/shallow-clone", clone, "a shallow copy to work")


@perform.register
def _(step: DropClone, session: Session) -> None:
    def drop() -> None:
        kept = _sign_of_life(session.store.drivers[0].saver)
        session.store.use(session.store.saver)
        if kept() not in (None, session.store.saver):
            gc.collect()

    _undisturbed(session, step, "lifecycle/shallow-clone", drop, "the saver to be unharmed")


def _sign_of_life(saver: Any) -> Callable[[], Any]:
    """Gives the saver for as long as it is there, or something for good if that cannot be told."""
    try:
        return weakref.ref(saver)
    except TypeError:
        return object


@perform.register
def _(step: CloseClone, session: Session) -> None:
    def close() -> None:
        clone = session.store.drivers[0].saver
        session.store.use(session.store.saver)
        if clone is not session.store.saver:
            _close(session, clone)

    _undisturbed(session, step, "lifecycle/shallow-clone", close, "the saver to be unharmed")
