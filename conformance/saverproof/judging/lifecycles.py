"""Takes steps of a saver's life that must change nothing: reopening and setting up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saverproof.errors import OpeningError
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.judging.store_check import check_store
from saverproof.programs.steps import definitions as steps
from saverproof.savers.execution.store import set_up


def undisturbed(
    context: Context,
    step: steps.Step,
    change: Callable[[], Any],
    expected: str,
    *,
    may_be_unreadable: bool = False,
) -> bool:
    """Do something that must leave everything as it was; return whether it did.

    Return False as well if the store is empty, which shows nothing. With ``may_be_unreadable``, an
    exception is excused by a checkpoint that cannot be read anyway.
    """
    context.last_change = step
    answer = context.attempt(change)
    if isinstance(answer, Raised):
        if may_be_unreadable and context.is_for_the_unreadable(facts.RAISED, expected, answer):
            return False
        context.facts.differ(facts.RAISED, None, expected, answer)
        if isinstance(answer.error, OpeningError) and not context.store.drivers:
            raise answer.error
        return False
    known = len(context.facts.differences)
    check_store(context)
    return len(context.facts.differences) == known and bool(context.model.threads)


def take_reopen(step: steps.Reopen, context: Context) -> None:
    """Close the saver and open it again."""
    if undisturbed(context, step, context.store.reopen, "the saver to open again"):
        context.facts.agree(type(step))


def take_set_up(step: steps.SetUp, context: Context) -> None:
    """Call the saver's set-up once more."""

    def again() -> None:
        set_up(context.store.saver, context.store.loop)

    if undisturbed(context, step, again, "the store to be set up again"):
        context.facts.agree(type(step))
