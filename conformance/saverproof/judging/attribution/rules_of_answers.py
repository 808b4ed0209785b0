"""Attribution rules for what a call shows by itself: second looks, listings, calls that raise."""

from __future__ import annotations

from saverproof.contracts.tables import (
    channels,
    deletion,
    identity,
    isolation,
    ordering,
    pending_writes,
    upsert,
)
from saverproof.judging import facts
from saverproof.judging.attribution import conditions, write_conditions
from saverproof.judging.attribution.contract_of_fact import BY_CAUSE, BY_REMOVAL, answered
from saverproof.judging.attribution.rule import Rule, after
from saverproof.judging.facts import OF_VALUES, OF_WRITES, Cause
from saverproof.judging.scenes.event_loop import CallOnLoop
from saverproof.judging.scenes.files import CheckFiles
from saverproof.programs.steps.definitions import Put, PutWrites

SHOWN = OF_VALUES | {
    facts.ADDRESS,
    facts.EXTRA,
    facts.FIELD,
    facts.METADATA,
    facts.METADATA_MERGED,
    facts.PARENT,
}
SETTLED = frozenset(
    {
        *(facts.ADDRESS, facts.RETURNED, facts.VERSION, facts.INPUT, facts.WRITE_ORDER),
        *(facts.LATEST, facts.LISTED_ORDER, facts.ORDER_OF_ALL, facts.LIMIT, facts.LIMIT_RAISED),
        *(facts.PAGES, facts.SELECTION, facts.KEPT, facts.REBUILT, facts.CHANNELS),
        facts.REBUILT_AFTER_RUNS,
        *(facts.HISTORY, facts.HISTORY_RAISED, facts.SAME_ANSWERS, facts.VERSION_RAISED),
        facts.FORM,
    }
)
CURES = (
    *(Cause.NONE_ARGUMENTS, Cause.ID_FORM, Cause.NAMESPACE_LEFT_OUT, Cause.LOOP_CONFIG),
    *(Cause.BEFORE, Cause.PLACE, Cause.HOWEVER_ASKED),
)

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
        conditions.due_to(Cause.LISTING_ALONE),
    ),
    Rule(
        "reading by id was right, so the steps before are not to blame",
        conditions.expected,
        when=conditions.due_to(Cause.LISTING_ALONE),
    ),
    Rule(
        "an empty id is refused, which is better than looking it up",
        identity.EMPTY_ID.id,
        when=conditions.refuses_empty_id,
    ),
    Rule(
        "a second look tells, whatever the fact is",
        conditions.expected,
        when=conditions.due_to(
            *(Cause.CHANGED_ANSWER, Cause.REFUSED_PRUNE, Cause.ANY_UNKNOWN, Cause.EMPTY_THREAD),
            *(Cause.ELSEWHERE, Cause.SET_UP_ALREADY, *CURES),
        ),
    ),
    Rule(
        "one of two copies was changed, and shown as the other",
        deletion.COPY_INDEPENDENT.id,
        when=conditions.due_to(Cause.OTHER_COPY),
    ),
    Rule(
        "what is shown of it is another thread's, or another namespace's",
        conditions.expected,
        SHOWN,
        conditions.is_of_another_place,
    ),
    Rule(
        "without the filter it is right",
        conditions.contract_of_filter,
        when=conditions.due_to(Cause.FILTER),
    ),
)
LISTINGS = (
    Rule(
        "a limit of 0 is refused, which is better than none",
        ordering.LIMIT_ZERO.id,
        {facts.LIMIT_RAISED},
        conditions.refuses_limit_zero,
    ),
    Rule(
        "a checkpoint that was put again is listed once for each put",
        lambda case: conditions.contract_of_put_again(
            case.difference.listed.record if case.difference.listed else None
        ),
        {facts.SELECTED_TWICE},
        conditions.listed(lambda listed: listed.record is not None and listed.record.puts > 1),
    ),
    Rule(
        "what was removed is still listed",
        lambda case: BY_REMOVAL.get(
            (case.difference.listed and case.difference.listed.removed_by) or "",
            conditions.expected(case),
        ),
        {facts.SELECTED},
        conditions.listed(lambda listed: listed.record is None),
    ),
    Rule(
        "a listing of one thread shows another's",
        isolation.THREADS.id,
        {facts.SELECTED},
        conditions.outside,
    ),
    Rule(
        "the namespace and the id asked for come before the filter",
        identity.LIST_SELECTS.id,
        {facts.SELECTED},
        conditions.unasked_for,
    ),
    Rule("it is not before", BY_CAUSE[Cause.BEFORE], {facts.SELECTED}, conditions.not_before),
    Rule(
        "the metadata that the filter asks for is stored wrongly, and the filter may be right",
        conditions.contract_of_metadata,
        {facts.SELECTED, facts.SELECTION},
        conditions.listed(lambda listed: bool(listed.wrong_metadata)),
    ),
    Rule("only the filter is left", conditions.contract_of_filter, {facts.SELECTED}),
)
REFUSALS = (
    *after(
        Put,
        Rule(
            "a new checkpoint was refused",
            identity.PUT_RETURNS_ADDRESS.id,
            {facts.RAISED},
            lambda case: case.record is None,
        ),
        Rule(
            "the very same was stored before",
            upsert.PUT_IS_IDEMPOTENT.id,
            {facts.RAISED},
            conditions.due_to(Cause.AGAIN),
        ),
        Rule("the id was stored before", upsert.PUT_REPLACES.id, {facts.RAISED}),
    ),
    *after(
        PutWrites,
        Rule(
            "a batch with nothing that is stored already was refused",
            pending_writes.COMPLETE.id,
            {facts.RAISED},
            lambda case: not write_conditions.stored_already(case),
        ),
        Rule(
            "a regular write was stored already, and the retry has to be accepted",
            upsert.REGULAR_WRITE_FIRST_WINS.id,
            {facts.RAISED},
            write_conditions.regular_stored_already,
        ),
        Rule("only special writes were stored", conditions.contract_of_batch, {facts.RAISED}),
    ),
    Rule(
        "what is put before its files are looked at is a plain checkpoint",
        identity.PUT_RETURNS_ADDRESS.id,
        {facts.RAISED},
        lambda case: isinstance(case.step, CheckFiles) and case.step.look_for == "private",
    ),
    Rule(
        "it did not come to the call on a loop, in a workspace of its own",
        isolation.WORKSPACES.id,
        {facts.RAISED},
        after=CallOnLoop,
    ),
    Rule("the call leans on this", lambda case: answered(case.step), {facts.RAISED}),
)
ANSWERS = (
    *SECOND_LOOKS,
    *LISTINGS,
    *REFUSALS,
    Rule("what the call itself shows is no step's before it", conditions.expected, SETTLED),
)
