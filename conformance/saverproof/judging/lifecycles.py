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
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.judging.store_check import check_store
from saverproof.steps import definitions as steps


def _undisturbed(
    context: Context, step: steps.Step, change: Callable[[], Any], expected: str
) -> None:
    """Do something after which everything must look as before."""
    context.last_change = step
    answer = context.attempt(change)
    if isinstance(answer, Raised):
        if isinstance(step, steps.AbandonList) and context.is_for_the_unreadable(
            facts.RAISED, expected, answer
        ):
            return
        context.facts.differ(facts.RAISED, None, expected, answer)
        if isinstance(answer.error, OpeningError) and not context.store.drivers:
            raise answer.error
        return
    known = len(context.facts.differences)
    check_store(context)
    if len(context.facts.differences) == known and context.model.threads:
        context.facts.agree(type(step))


def take_reopen(step: steps.Reopen, context: Context) -> None:
    _undisturbed(context, step, context.store.reopen, "the saver to open again")


def take_set_up(step: steps.SetUp, context: Context) -> None:
    def again() -> None:
        set_up(context.store.saver, context.store.loop)

    _undisturbed(context, step, again, "the store to be set up again")


def take_close_again(step: steps.CloseAgain, context: Context) -> None:
    saver = context.store.saver

    def twice() -> None:
        try:
            for _ in range(2):
                _close(context, saver)
        finally:
            context.store.reopen_closed()

    if _closers(saver):
        _undisturbed(context, step, twice, "closing to be harmless")


def _closers(saver: Any) -> list[Callable[[], Any]]:
    """The methods that close a saver, for the sync API and the async one."""
    return [getattr(saver, name) for name in ("close", "aclose") if hasattr(saver, name)]


def _close(context: Context, saver: Any) -> None:
    for close in _closers(saver):
        answer = close()
        if hasattr(answer, "__await__"):
            context.store.loop.run(_awaited(answer))


async def _awaited(answer: Any) -> Any:
    return await answer


def take_abandon_list(step: steps.AbandonList, context: Context) -> None:
    config = address_config(context.real(step.thread), None, None)
    _undisturbed(
        context,
        step,
        lambda: context.reader.first_listed(config),
        "the first item of the listing",
    )


def take_clone(step: steps.Clone, context: Context) -> None:
    def clone() -> None:
        copied = copy.copy(context.store.saver)
        copied.serde = copy.copy(copied.serde)
        context.store.use(copied)

    _undisturbed(context, step, clone, "a shallow copy to work")


def take_drop_clone(step: steps.DropClone, context: Context) -> None:
    def drop() -> None:
        kept = _sign_of_life(context.store.drivers[0].saver)
        context.store.use(context.store.saver)
        if kept() not in (None, context.store.saver):
            gc.collect()

    _undisturbed(context, step, drop, "the saver to be unharmed")


def _sign_of_life(saver: Any) -> Callable[[], Any]:
    """Gives the saver for as long as it is there, or something for good if that cannot be told."""
    try:
        return weakref.ref(saver)
    except TypeError:
        return object
