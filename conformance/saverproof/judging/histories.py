"""Takes steps that put many checkpoints in a row."""

from __future__ import annotations

from functools import partial

from saverproof.execution.calls import put_call
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Raised
from saverproof.judging.puts import forget_older, mark, settle_refused
from saverproof.judging.store_check import touch
from saverproof.steps.definitions import PutHistory
from saverproof.steps.expanding import puts_of


def take_put_history(step: PutHistory, context: Context) -> None:
    """Put one after another, and look at the last: listings and the end of the program look at all.

    With the first that is refused the history ends.
    """
    context.last_change = step
    thread = context.real(step.thread)
    for put in puts_of(step):
        address = (put.thread, put.namespace, put.number)
        planned = context.attempt(partial(context.model.plan_put, put, context.next_version))
        if isinstance(planned, Raised):
            context.facts.differ(facts.VERSION_RAISED, address, "a version", planned)
            return
        answer = context.attempt(partial(context.driver.put, put_call(put, planned, thread)))
        if isinstance(answer, Raised):
            context.facts.differ(facts.RAISED, address, "the checkpoint's config", answer)
            settle_refused(context, address)
            return
        mark(context, put, planned)
        if context.shallow:
            forget_older(context, put)
    touch(context, address)
