"""Second looks: a question is asked in another form, to see what a wrong answer depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, FilterSort, Raised
from saverproof.judging.filters import sort_of
from saverproof.judging.listing_answer import ask
from saverproof.judging.looks import WholeListing
from saverproof.programs.model.records import Address
from saverproof.programs.steps.definitions import PLAIN, GetTuple, IdForm, ListTuples
from saverproof.savers.execution.calls import list_arguments

_VERY_MANY = 100_000
"""A limit above the number of checkpoints in any store."""


def judge_refusal(context: Context, step: ListTuples, error: Raised) -> None:
    """Note that a listing raised, and why, unless an unreadable checkpoint explains it."""
    if (
        step.filter
        and sort_of(step.filter) is FilterSort.HOSTILE_KEY
        and ask(context, replace(step, filter=None)).error is None
    ):
        # A saver may refuse a hostile key, as long as the same listing works without it.
        context.facts.agree(facts.FILTERED[FilterSort.HOSTILE_KEY])
        return
    if refuses_nones(context, step, error):
        return
    log = context.facts.by(WholeListing(step))
    named = replace(step, id_form=IdForm.ABSENT)
    if step.id_form is IdForm.EMPTY and ask(context, named).error is None:
        log.differ(facts.RAISED, None, "a listing", error, cause=Cause.ID_FORM)
        return
    if refuses_no_namespace(context, step):
        log.differ(facts.RAISED, None, "a listing", error, cause=Cause.NAMESPACE_LEFT_OUT)
        return
    if step.thread is not None and not context.model.listing(ListTuples(step.thread)):
        cause = Cause.EMPTY_THREAD
        log.differ(facts.RAISED, None, "an empty listing", error, cause=cause)
        return
    for cause, plainer in plainer_listings(step):
        if ask(context, plainer).error is None:
            log.differ(facts.RAISED, None, "a listing", error, cause=cause)
            return
    if not context.is_for_the_unreadable(facts.RAISED, "a listing", error):
        log.differ(facts.RAISED, None, "a listing", error, cause=Cause.HOWEVER_ASKED)


def refuses_nones(context: Context, step: ListTuples, error: Raised) -> bool:
    """Return whether a listing raises only because of arguments given as None, as the loop does.

    If so, the difference is noted.
    """
    if isinstance(_without_nones(context, step), Raised):
        return False
    log = context.facts.by(WholeListing(step, nones=True))
    log.differ(facts.RAISED, None, "a listing", error, cause=Cause.NONE_ARGUMENTS)
    return True


def refuses_no_namespace(context: Context, step: ListTuples) -> bool:
    """Return whether a listing raises only because it names no namespace."""
    if step.thread is None or step.namespace is not None:
        return False
    # Without the filter, since the root may hold nothing that it can be compared with.
    unfiltered = ask(context, replace(step, filter=None))
    return unfiltered.error is not None and ask(context, replace(step, namespace="")).error is None


def _without_nones(context: Context, step: ListTuples) -> Any:
    """Return the answer to the same listing without its None arguments.

    Return a :class:`Raised` if it has none.
    """
    thread = None if step.thread is None else context.real(step.thread)
    config, arguments = list_arguments(step, thread)
    given = {name: value for name, value in arguments.items() if value is not None}
    if given == arguments:
        return Raised(ValueError("nothing to leave out"))
    return context.attempt(lambda: context.reader.list_tuples(config, given))


def is_listed_by_limit(context: Context, step: ListTuples, address: Address) -> bool:
    """Return whether a listing without a limit would show the checkpoint if it had a large one."""
    limited = replace(step, limit=_VERY_MANY)
    return step.limit is None and address in ask(context, limited).addresses


def is_listed_by_namespace(context: Context, step: ListTuples, address: Address) -> bool:
    """Return whether a listing without a namespace would show the checkpoint if it named one."""
    if step.thread is None or step.namespace is not None:
        return False
    if is_listed_by_limit(context, step, address):
        return False
    if step.before is not None and address in ask(context, replace(step, before=None)).addresses:
        return False
    return address in ask(context, replace(step, namespace=address[1])).addresses


def plainer_reads(step: GetTuple) -> Iterator[tuple[Cause, GetTuple]]:
    """Yield plainer forms of a read, each with the cause found if it is answered rightly."""
    if step.id_form is not IdForm.ABSENT:
        yield Cause.ID_FORM, replace(step, id_form=IdForm.ABSENT)
    if step.namespace is None:
        yield Cause.NAMESPACE_LEFT_OUT, replace(step, namespace="")
    if step.extras != PLAIN:
        yield Cause.LOOP_CONFIG, replace(step, extras=PLAIN)


def plainer_listings(step: ListTuples) -> Iterator[tuple[Cause, ListTuples]]:
    """Yield plainer forms of a listing, each with the cause found if it is answered rightly."""
    if step.id_form is not IdForm.ABSENT:
        yield Cause.ID_FORM, replace(step, id_form=IdForm.ABSENT)
    if step.extras != PLAIN:
        yield Cause.LOOP_CONFIG, replace(step, extras=PLAIN)
    if step.filter:
        yield Cause.FILTER, replace(step, filter=None)
    if step.before is not None:
        yield Cause.BEFORE, replace(step, before=None)
    if step.number is not None:
        yield Cause.PLACE, replace(step, number=None)
    if step.namespace is not None:
        yield Cause.PLACE, replace(step, namespace=None)


def cause_of_missing(context: Context, step: ListTuples, address: Address) -> Cause:
    """Return the cause of a missing checkpoint: the form of the listing that hides it."""
    if is_listed_by_namespace(context, step, address):
        return Cause.NAMESPACE_LEFT_OUT
    for cause, plainer in plainer_listings(step):
        if address in ask(context, plainer).addresses:
            return cause
    return Cause.HOWEVER_ASKED
