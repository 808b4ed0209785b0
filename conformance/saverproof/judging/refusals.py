"""Which promise a saver breaks that refuses a listing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from saverproof.execution.calls import list_arguments
from saverproof.judging.filters import contract_of_filter
from saverproof.judging.listing_answer import ask
from saverproof.judging.session import Raised, Session
from saverproof.steps.definitions import PLAIN, IdForm, ListTuples

SELECTS = "identity/list-selects"
BEFORE = "ordering/before-is-exclusive"


def judge_refusal(session: Session, step: ListTuples, error: Raised) -> None:
    """Blame a listing that raised, unless it may be for a checkpoint that cannot be read at all."""
    hostile = "isolation/hostile-filter-keys"
    if (
        step.filter
        and contract_of_filter(step.filter) == hostile
        and ask(session, replace(step, filter=None)).error is None
    ):
        # To refuse such a key is right, as long as the same listing works without it.
        session.sheet.agree(hostile)
        return
    if refuses_nones(session, step, error):
        return
    if step.thread is not None and not session.model.listing(ListTuples(step.thread)):
        contract = "identity/unknown-is-none"
        session.sheet.differ(contract, "raised", None, "an empty listing", error, settled=True)
        return
    for contract, plainer in plainer_forms(step):
        if ask(session, plainer).error is None:
            session.sheet.differ(contract, "raised", None, "a listing", error, settled=True)
            return
    if not session.unreadable:
        session.sheet.differ(SELECTS, "raised", None, "a listing", error, settled=True)


def refuses_nones(session: Session, step: ListTuples, error: Raised) -> bool:
    """Whether a listing raised for no more than the arguments that the loop gives as None."""
    if isinstance(_without_nones(session, step), Raised):
        return False
    contract = "identity/loop-configs"
    session.sheet.differ(contract, "raised", None, "a listing", error, settled=True)
    return True


def _without_nones(session: Session, step: ListTuples) -> Any:
    """The same listing, with the arguments left out that the loop gives as None."""
    thread = None if step.thread is None else session.real(step.thread)
    config, arguments = list_arguments(step, thread)
    given = {name: value for name, value in arguments.items() if value is not None}
    if given == arguments:
        return Raised(ValueError("nothing to leave out"))
    return session.attempt(lambda: session.reader.list_tuples(config, given))


def plainer_forms(step: ListTuples) -> Iterator[tuple[str, ListTuples]]:
    """The step without one of its criteria or forms, and the contract of what was left out."""
    if step.id_form is not IdForm.ABSENT:
        yield "identity/none-id-is-latest", replace(step, id_form=IdForm.ABSENT)
    if step.extras != PLAIN:
        yield "identity/loop-configs", replace(step, extras=PLAIN)
    if step.filter:
        yield contract_of_filter(step.filter), replace(step, filter=None)
    if step.before is not None:
        yield BEFORE, replace(step, before=None)
    if step.number is not None:
        yield SELECTS, replace(step, number=None)
    if step.namespace is not None:
        yield SELECTS, replace(step, namespace=None)
