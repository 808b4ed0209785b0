"""Takes the steps of a saver's life, after which everything is as before: reopening and set-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saverproof.errors import OpeningError
from saverproof.execution.store import set_up
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.judging.store_check import check_store
from saverproof.steps import definitions as steps


def undisturbed(
    context: Context,
    step: steps.Step,
    change: Callable[[], Any],
    expected: str,
    *,
    may_be_unreadable: bool = False,
) -> None:
    """Do something after which everything must look as before.

    With ``may_be_unreadable`` it may raise for a checkpoint that cannot be read anyway.
    """
    context.last_change = step
    answer = context.attempt(change)
    if isinstance(answer, Raised):
        if may_be_unreadable and context.is_for_the_unreadable(facts.RAISED, expected, answer):
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
    undisturbed(context, step, context.store.reopen, "the saver to open again")


def take_set_up(step: steps.SetUp, context: Context) -> None:
    def again() -> None:
        set_up(context.store.saver, context.store.loop)

    undisturbed(context, step, again, "the store to be set up again")
