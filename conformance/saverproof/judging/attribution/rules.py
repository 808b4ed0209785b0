"""Which contract a difference breaks, given the step that brought it: rules, in order.

A fact alone does not tell: a value that differs after one put is serialization's, after a second
put of the same id it is upsert's. The first rule that fits decides, so each may rely on those
above it; what none of them settles breaks the contract that made the fact expected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from saverproof.contracts.tables import (
    channels,
    deletion,
    identity,
    isolation,
    pending_writes,
    upsert,
)
from saverproof.judging import facts
from saverproof.judging.attribution import conditions, writes
from saverproof.judging.attribution.case import Case
from saverproof.judging.attribution.expected import (
    BY_CAUSE,
    BY_REMOVAL,
    WHOLE_STEP,
    answered,
)
from saverproof.judging.facts import OF_WRITES, Cause, Difference, Fact
from saverproof.model import records
from saverproof.model.store import Model
from saverproof.steps.definitions import CopyThread, Put, PutWrites, Step

Contract = str | Callable[[Case], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """For differences of these ``facts`` (none: any) ``after`` such a step, if ``when`` holds."""

    why: str
    contract: Contract
    facts: Collection[Fact] = ()
    after: type[Step] | tuple[type[Step], ...] = Step
    when: Callable[[Case], bool] = lambda _: True

    def fits(self, case: Case) -> bool:
        """Whether the rule decides this case."""
        return (
            (not self.facts or case.kind in self.facts)
            and isinstance(case.step, self.after)
            and self.when(case)
        )


def attribute(difference: Difference, step: Step, model: Model) -> str:
    """The contract that a difference breaks, given the step after which it was first seen."""
    case = Case(difference, step, model)
    rule = next((rule for rule in RULES if rule.fits(case)), None)
    if rule is None:
        return conditions.by_itself(case)
    return rule.contract if isinstance(rule.contract, str) else rule.contract(case)


# --- the rules ---------------------------------------------------------------------------------

SETTLED = frozenset(
    {
        *(facts.ADDRESS, facts.RETURNED, facts.VERSION, facts.INPUT, facts.WRITE_ORDER),
        *(facts.LATEST, facts.LISTED_ORDER, facts.ORDER_OF_ALL, facts.LIMIT, facts.LIMIT_RAISED),
        *(facts.PAGES, facts.SELECTION, facts.KEPT, facts.REBUILT, facts.SEEN_ELSEWHERE),
        *(facts.PUT_ELSEWHERE, facts.ACCEPTED, facts.COUNT, facts.MODE, facts.PLAINTEXT),
        *(facts.CHANNELS, facts.HISTORY, facts.HISTORY_RAISED, facts.SAME_ANSWERS, facts.HANG),
        *(facts.WRITE_HANG, facts.FIRST_OPERATION, facts.FIRST_OPERATION_BEFORE_SETUP),
        *(facts.VERSION_RAISED, facts.FORM),
    }
)
CURES = (
    *(Cause.NONE_ARGUMENTS, Cause.NONE_ID, Cause.NO_NAMESPACE, Cause.LOOP_CONFIG),
    *(Cause.BEFORE, Cause.CRITERION),
)
_FIRST_WINS = upsert.REGULAR_WRITE_FIRST_WINS.id

SECOND_LOOKS = (
    Rule(
        "without a version nothing can be put, whatever was tried",
        channels.VERSIONS_INCREASE.id,
        when=conditions.has_no_version,
    ),
    Rule(
        "a write that only a listing shows wrongly is the listing's",
        pending_writes.SAME_IN_LIST.id,
        OF_WRITES,
        when=conditions.due_to(Cause.LISTING_ALONE),
    ),
    Rule(
        "reading by id was right, so the steps before are not to blame",
        conditions.expected,
        when=conditions.due_to(Cause.LISTING_ALONE),
    ),
    Rule(
        "a second look tells, whatever the fact is",
        conditions.expected,
        when=conditions.due_to(
            *(Cause.CHANGED_ANSWER, Cause.REFUSED_PRUNE, Cause.ANY_UNKNOWN, Cause.EMPTY_THREAD),
            *(Cause.SET_UP_ALREADY, *CURES),
        ),
    ),
    Rule(
        "without the filter it is right",
        conditions.contract_of_filter,
        when=conditions.due_to(Cause.FILTER),
    ),
)
LISTINGS = (
    Rule(
        "a checkpoint that was put again is listed once for each put",
        lambda case: conditions.contract_of_put_again(
            case.difference.listed.record if case.difference.listed else None
        ),
        {facts.SELECTED_TWICE},
        when=conditions.listed(lambda listed: listed.record is not None and listed.record.puts > 1),
    ),
    Rule(
        "what was removed is still listed",
        lambda case: BY_REMOVAL.get(
            (case.difference.listed and case.difference.listed.removed_by) or "",
            conditions.expected(case),
        ),
        {facts.SELECTED},
        when=conditions.listed(lambda listed: listed.record is None),
    ),
    Rule(
        "a listing of one thread shows another's",
        isolation.THREADS.id,
        {facts.SELECTED},
        when=conditions.outside,
    ),
    Rule(
        "the namespace and the id asked for come before the filter",
        identity.LIST_SELECTS.id,
        {facts.SELECTED},
        when=conditions.unasked_for,
    ),
    Rule("it is not before", BY_CAUSE[Cause.BEFORE], {facts.SELECTED}, when=conditions.not_before),
    Rule(
        "the metadata that the filter asks for is stored wrongly, and the filter may be right",
        conditions.contract_of_metadata,
        {facts.SELECTED, facts.SELECTION},
        when=conditions.listed(lambda listed: bool(listed.wrong_metadata)),
    ),
    Rule("only the filter is left", conditions.contract_of_filter, {facts.SELECTED}),
)
REFUSALS = (
    Rule(
        "a new checkpoint was refused",
        identity.PUT_RETURNS_ADDRESS.id,
        {facts.RAISED},
        Put,
        lambda case: case.record is None,
    ),
    Rule(
        "the very same was stored before",
        upsert.PUT_IS_IDEMPOTENT.id,
        {facts.RAISED},
        Put,
        conditions.due_to(Cause.AGAIN),
    ),
    Rule("the id was stored before", upsert.PUT_REPLACES.id, {facts.RAISED}, Put),
    Rule(
        "a batch with nothing that is stored already was refused",
        pending_writes.COMPLETE.id,
        {facts.RAISED},
        PutWrites,
        lambda case: not writes.stored_already(case),
    ),
    Rule(
        "a regular write was stored already, and the retry has to be accepted",
        _FIRST_WINS,
        {facts.RAISED},
        PutWrites,
        writes.regular_stored_already,
    ),
    Rule(
        "only special writes were stored", conditions.contract_of_batch, {facts.RAISED}, PutWrites
    ),
    Rule("the call leans on this", lambda case: answered(case.step), {facts.RAISED}),
)
STEPS = (
    Rule("what the call itself shows is no step's before it", conditions.expected, SETTLED),
    Rule(
        "one of two copies was changed, and the other changed with it",
        deletion.COPY_INDEPENDENT.id,
        when=conditions.on_the_other_side,
    ),
    Rule(
        "nothing may differ after such a step",
        lambda case: WHOLE_STEP[type(case.step)],
        after=tuple(WHOLE_STEP),
    ),
)
COPIES = (
    Rule(
        "what had been removed from the target is back",
        conditions.contract_of_return,
        after=CopyThread,
        when=lambda case: conditions.on_copy(case) and conditions.came_back(case),
    ),
    Rule("the copy differs", deletion.COPY_COMPLETE.id, after=CopyThread, when=conditions.on_copy),
    Rule("copying changed another thread", deletion.COPY_INDEPENDENT.id, after=CopyThread),
)
PUTS = (
    Rule(
        "the fact is of no checkpoint",
        conditions.expected,
        after=(Put, PutWrites),
        when=Case.is_nowhere,
    ),
    Rule(
        "it was removed, and a put brings it back",
        conditions.contract_of_return,
        after=Put,
        when=conditions.came_back_at_a_put,
    ),
    Rule(
        "it was removed, and a write brings it back",
        conditions.contract_of_return,
        {facts.EXTRA},
        PutWrites,
        conditions.came_back,
    ),
    Rule(
        "a write of another checkpoint is shown elsewhere",
        pending_writes.SCOPED.id,
        {facts.WRITE_FOREIGN},
        (Put, PutWrites),
        lambda case: case.elsewhere,
    ),
    Rule(
        "writing to one checkpoint changed the writes of another",
        pending_writes.SCOPED.id,
        OF_WRITES,
        PutWrites,
        lambda case: case.elsewhere,
    ),
    Rule(
        "another thread changed",
        isolation.THREADS.id,
        (),
        (Put, PutWrites),
        conditions.other_thread,
    ),
    Rule(
        "another namespace of the thread changed",
        isolation.NAMESPACES.id,
        after=(Put, PutWrites),
        when=lambda case: case.elsewhere and case.namespace_differs,
    ),
    Rule(
        "a put elsewhere in the namespace lost a write",
        pending_writes.COMPLETE.id,
        OF_WRITES,
        Put,
        lambda case: case.elsewhere,
    ),
    Rule(
        "a checkpoint is there that was removed, or never put",
        conditions.by_itself,
        {facts.EXTRA},
        (Put, PutWrites),
        lambda case: case.elsewhere,
    ),
    Rule(
        "another checkpoint of the namespace changed",
        channels.HISTORY_IMMUTABLE.id,
        after=(Put, PutWrites),
        when=lambda case: case.elsewhere,
    ),
    Rule(
        "a put shows writes that are not its checkpoint's",
        pending_writes.SCOPED.id,
        {facts.WRITE_EXTRA, facts.WRITE_FOREIGN},
        Put,
    ),
    Rule(
        "putting again changed the writes",
        upsert.REPUT_KEEPS_WRITES.id,
        OF_WRITES,
        Put,
        conditions.put_again,
    ),
    Rule(
        "it was put again",
        lambda case: conditions.contract_of_put_again(case.record),
        after=Put,
        when=conditions.put_again,
    ),
    Rule(
        "the write is there by copying its thread",
        deletion.COPY_COMPLETE.id,
        after=Put,
        when=lambda case: case.write is not None and records.COPIED in case.write.marks,
    ),
)
WRITES = (
    Rule(
        "writes changed the checkpoint itself",
        channels.HISTORY_IMMUTABLE.id,
        after=PutWrites,
        when=lambda case: case.kind not in OF_WRITES,
    ),
    Rule(
        "a write of this task was added whose place was taken",
        _FIRST_WINS,
        {facts.WRITE_EXTRA},
        PutWrites,
        writes.of_the_task,
    ),
    Rule(
        "a write of this batch was added whose place was taken; it looks like another checkpoint's",
        _FIRST_WINS,
        {facts.WRITE_FOREIGN},
        PutWrites,
        writes.of_the_batch,
    ),
    Rule(
        "such a write has no place of its own that tells more",
        conditions.expected,
        {facts.WRITE_EXTRA, facts.WRITE_FOREIGN},
        PutWrites,
    ),
    Rule(
        "a special write was added, not replaced",
        conditions.contract_of_replacing,
        {facts.WRITE_TWICE},
        PutWrites,
        writes.is_special,
    ),
    Rule(
        "a regular write was added again",
        _FIRST_WINS,
        {facts.WRITE_TWICE},
        PutWrites,
        writes.is_known,
    ),
    Rule(
        "a value that was to be replaced, by this batch or one before",
        conditions.contract_of_replacing,
        (),
        PutWrites,
        writes.is_stale,
    ),
    Rule(
        "no write has this value, so that it is a matter of storing it",
        conditions.expected,
        {facts.WRITE_VALUE},
        PutWrites,
        lambda case: writes.is_known(case) and not writes.was_written(case),
    ),
    Rule(
        "a special and a regular write met at one place",
        pending_writes.SPECIAL_INDEX.id,
        after=PutWrites,
        when=writes.displaced,
    ),
    Rule(
        "a special write of this batch replaced another",
        conditions.contract_of_replacing,
        after=PutWrites,
        when=lambda case: writes.is_special(case) and writes.replaced_by_batch(case),
    ),
    Rule(
        "a special write of its own", conditions.expected, after=PutWrites, when=writes.is_special
    ),
    Rule(
        "a batch changed the writes of another task",
        pending_writes.COMPLETE.id,
        after=PutWrites,
        when=writes.of_another_task,
    ),
    Rule(
        "the task had written before, and this batch changed that or was not added",
        _FIRST_WINS,
        after=PutWrites,
        when=writes.was_added_to,
    ),
)
RULES: tuple[Rule, ...] = (
    *SECOND_LOOKS,
    *LISTINGS,
    *REFUSALS,
    *STEPS,
    *COPIES,
    *PUTS,
    *WRITES,
)
