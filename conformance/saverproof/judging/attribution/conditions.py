"""Conditions of attribution rules, and the contracts that depend on details of a case."""

from __future__ import annotations

from collections.abc import Callable

from saverproof.contracts.tables import deletion, serialization, upsert
from saverproof.judging import facts
from saverproof.judging.attribution import write_conditions
from saverproof.judging.attribution.contract_of_fact import (
    BY_CAUSE,
    BY_CAUSE_OF_READ,
    BY_FACT,
    BY_FILTER,
    BY_REMOVAL,
    BY_RETURN,
)
from saverproof.judging.attribution.rule import Case
from saverproof.judging.facts import OF_VALUES, Cause, Listed, Raised
from saverproof.judging.filters import sort_of
from saverproof.programs.model import records
from saverproof.programs.rewriting.renaming import threads
from saverproof.programs.steps.definitions import CopyThread, GetTuple, IdForm, ListTuples
from saverproof.savers.execution.versions import NoVersionError


def due_to(*causes: Cause) -> Callable[[Case], bool]:
    """Return a condition: a second look found one of these causes."""
    return lambda case: case.difference.cause in causes


def is_of_another_place(case: Case) -> bool:
    """Return whether a checkpoint of another thread or namespace was shown.

    An extra checkpoint counts only if it has no address in the model.
    """
    extra, cause = case.kind is facts.EXTRA, case.difference.cause
    another = cause in (Cause.OTHER_THREAD, Cause.OTHER_NAMESPACE)
    return another and (not extra or case.is_nowhere())


def expected(case: Case) -> str:
    """Return the contract that made the fact expected. If a second look found a cause, return that
    cause's contract instead.
    """
    causes = BY_CAUSE_OF_READ if isinstance(case.step, GetTuple) else BY_CAUSE
    cause = case.difference.cause
    return (causes.get(cause) if cause else None) or BY_FACT[case.kind]


def by_itself(case: Case) -> str:
    """Return the contract of a fact without regard to the step.

    For a removed checkpoint that is still there, this is the contract of its removal.
    """
    if case.kind is facts.EXTRA and case.address in case.model.gone:
        return BY_REMOVAL.get(case.model.gone[case.address], expected(case))
    return expected(case)


def has_no_version(case: Case) -> bool:
    """Return whether a put could not be made because the saver gave no channel version."""
    return isinstance(getattr(case.difference.observed, "error", None), NoVersionError)


def on_the_other_side(case: Case) -> bool:
    """Return whether the step touched the source or the copy of the thread that differs.

    Return False if the step touched that thread itself.
    """
    if case.address is None or isinstance(case.step, CopyThread):
        return False
    touched, other = threads(case.step), case.address[0]
    return other not in touched and any(frozenset((other, t)) in case.model.copies for t in touched)


def returned(case: Case) -> str | None:
    """Return the contract that is broken because something removed has come back. Return None if
    nothing has.
    """
    if case.address is None:
        return None
    if case.kind is facts.EXTRA:
        return BY_RETURN.get(case.model.gone.get(case.address, ""))
    record = case.record
    shown_but_not_put = not case.difference.expected and case.kind in OF_VALUES
    back = shown_but_not_put or case.kind in (facts.WRITE_EXTRA, facts.WRITE_TWICE)
    if record is None or record.puts > 1 or not back:
        return None
    if record.before == records.PRUNED_AS_OLDER:
        # Of older checkpoints a saver may keep anything.
        return deletion.PRUNE_DROPS_OLDER.id
    return BY_RETURN.get(record.before or "")


def on_copy(case: Case) -> bool:
    """Return whether the difference is in the target thread of a copy."""
    step = case.step
    return (
        isinstance(step, CopyThread) and case.address is not None and case.address[0] == step.target
    )


def came_back(case: Case) -> bool:
    """Return whether what differs was removed before, and has returned."""
    return bool(returned(case))


def came_back_at_a_put(case: Case) -> bool:
    """Return whether a put brought back what was removed before."""
    # If another checkpoint shows a wrong value, this put caused it, not an earlier one.
    return not (case.elsewhere and case.kind in OF_VALUES) and came_back(case)


def contract_of_return(case: Case) -> str:
    """Return the contract that is broken because something removed has come back."""
    return returned(case) or expected(case)


def put_again(case: Case) -> bool:
    """Return whether the checkpoint that differs was put more than once."""
    return case.record is not None and case.record.puts > 1


def contract_of_put_again(record: records.Record | None) -> str:
    """Return the contract for a second put under an id: with the same content, or with other
    content.
    """
    same = record is not None and records.PUT_AGAIN in record.last_marks
    return (upsert.PUT_IS_IDEMPOTENT if same else upsert.PUT_REPLACES).id


def contract_of_replacing(case: Case) -> str:
    """Return the contract for replacing a special write, by the batch that the write belongs to."""
    mixed = case.write is not None and case.write.mixed
    kind = upsert.SPECIAL_WRITE_LAST_WINS_MIXED if mixed else upsert.SPECIAL_WRITE_LAST_WINS
    return kind.id


def contract_of_batch(case: Case) -> str:
    """Return the contract for replacing special writes, by the batch that the step wrote."""
    mixed = write_conditions.batch_is_mixed(case)
    kind = upsert.SPECIAL_WRITE_LAST_WINS_MIXED if mixed else upsert.SPECIAL_WRITE_LAST_WINS
    return kind.id


def other_thread(case: Case) -> bool:
    """Return whether the difference is in a thread in which the step wrote nothing."""
    return case.elsewhere and case.thread_differs


def refuses_empty_id(case: Case) -> bool:
    """Return whether a read with an empty id raised, while the same read without an id did not."""
    asked = getattr(case.step, "id_form", None)
    refused = isinstance(case.difference.observed, Raised)
    return refused and asked is IdForm.EMPTY and case.difference.cause is Cause.ID_FORM


def refuses_limit_zero(case: Case) -> bool:
    """Return whether a listing with a limit of 0 raised."""
    return isinstance(case.step, ListTuples) and case.step.limit == 0


def listed(ask: Callable[[Listed], bool]) -> Callable[[Case], bool]:
    """Return a condition on the checkpoint that a listing is wrong about."""
    return lambda case: case.difference.listed is not None and ask(case.difference.listed)


def outside(case: Case) -> bool:
    """Return whether a listing of one thread gave a checkpoint of another thread."""
    listed, step = case.difference.listed, case.step
    return (
        listed is not None
        and isinstance(step, ListTuples)
        and step.thread is not None
        and listed.address[0] != step.thread
    )


def unasked_for(case: Case) -> bool:
    """Return whether the listing's namespace or id excludes the checkpoint that it is wrong
    about.
    """
    listed, step = case.difference.listed, case.step
    if listed is None or not isinstance(step, ListTuples):
        return True
    _, namespace, number = listed.address
    in_namespace = step.namespace is None or namespace == step.namespace
    return not in_namespace or (step.number is not None and number != step.number)


def not_before(case: Case) -> bool:
    """Return whether a listing with ``before`` gave a checkpoint that is not before that id."""
    listed, step = case.difference.listed, case.step
    return (
        listed is not None
        and isinstance(step, ListTuples)
        and step.before is not None
        and listed.address[2] >= step.before
    )


def contract_of_metadata(case: Case) -> str:
    """Return the contract of the first filter key whose value the saver shows wrongly."""
    listed, step = case.difference.listed, case.step
    assert listed is not None
    assert isinstance(step, ListTuples)
    key = next(key for key in step.filter or {} if key in listed.wrong_metadata)
    merged = listed.record is not None and key in listed.record.merged
    return (serialization.CONFIG_METADATA_MERGED if merged else serialization.METADATA).id


def contract_of_filter(case: Case) -> str:
    """Return the contract of the most special kind of filter entry that the listing did not
    follow.
    """
    step, listed = case.step, case.difference.listed
    wanted = step.filter or {} if isinstance(step, ListTuples) else {}
    if case.kind is not facts.SELECTED or listed is None or listed.record is None:
        return BY_FILTER[sort_of(wanted)]
    if listed.filters_ignored:
        return BY_FILTER[facts.FilterSort.EQUALITY]
    return BY_FILTER[sort_of(wanted, listed.record.merged | listed.record.metadata)]
