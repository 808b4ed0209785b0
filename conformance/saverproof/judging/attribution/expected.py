"""Which contract makes a fact expected: the first part of the table.

It answers what an agreement is evidence for, and what a difference breaks as far as the fact alone
tells; :mod:`saverproof.judging.attribution.rules` has the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from saverproof.contracts.tables import (
    channels,
    deletion,
    delta_history,
    filtering,
    identity,
    isolation,
    lifecycle,
    ordering,
    parity,
    pending_writes,
    serialization,
    upsert,
)
from saverproof.judging import facts
from saverproof.judging.attribution.features import EVIDENCE
from saverproof.judging.facts import Cause, Fact, FilterSort, Judged
from saverproof.judging.filters import sort_of
from saverproof.model import records
from saverproof.model.records import Circumstance, Provenance
from saverproof.steps import definitions as steps

BY_FILTER: Mapping[FilterSort, str] = {
    FilterSort.EQUALITY: filtering.EQUALITY.id,
    FilterSort.NONE: filtering.NONE.id,
    FilterSort.NESTED: filtering.NESTED.id,
    FilterSort.DOTTED_KEY: filtering.DOTTED_KEY.id,
    FilterSort.HOSTILE_KEY: isolation.HOSTILE_FILTER_KEYS.id,
}
BY_REMOVAL: Mapping[str, str] = {
    "delete_thread": deletion.THREAD_ALL.id,
    "delete_for_runs": deletion.RUNS.id,
    "prune": deletion.PRUNE_LATEST.id,
}
"""What a checkpoint that is still shown breaks, by the operation that was to remove it."""
BY_RETURN: Mapping[str, str] = {**BY_REMOVAL, "delete_thread": deletion.NO_GHOSTS.id}
"""What something breaks that was gone, and is back after a later put."""

BY_FACT: Mapping[Fact, str] = {
    facts.ABSENT: identity.UNKNOWN_IS_NONE.id,
    facts.EXTRA: identity.UNKNOWN_IS_NONE.id,
    facts.UNKNOWN_RAISES: identity.UNKNOWN_IS_NONE.id,
    # What put said is the address has to be one.
    facts.MISSING: identity.PUT_RETURNS_ADDRESS.id,
    facts.UNREADABLE: identity.PUT_RETURNS_ADDRESS.id,
    facts.RETURNED: identity.PUT_RETURNS_ADDRESS.id,
    facts.MALFORMED: identity.TUPLE_ADDRESSES_ITSELF.id,
    facts.ADDRESS: identity.TUPLE_ADDRESSES_ITSELF.id,
    facts.PARENT: identity.PARENT.id,
    facts.FIELD: serialization.CHECKPOINT_FIELDS.id,
    facts.METADATA: serialization.METADATA.id,
    facts.METADATA_MERGED: serialization.CONFIG_METADATA_MERGED.id,
    facts.METADATA_BARRED: serialization.CONFIG_METADATA_MERGED.id,
    facts.METADATA_STALE: upsert.PUT_REPLACES.id,
    facts.VALUES[Provenance.GIVEN]: serialization.CHANNEL_VALUES.id,
    facts.VALUES[Provenance.CARRIED]: channels.UNCHANGED_CARRIED.id,
    facts.VALUES[Provenance.COPIED]: channels.COPY_FORK.id,
    facts.VALUES[Provenance.DROPPED]: channels.DROPPED_STAYS_DROPPED.id,
    facts.LATEST: ordering.LATEST_IS_GREATEST_ID.id,
    facts.WRITE: pending_writes.COMPLETE.id,
    facts.WRITE_MISSING: pending_writes.COMPLETE.id,
    facts.WRITE_EXTRA: pending_writes.COMPLETE.id,
    facts.WRITE_TWICE: pending_writes.COMPLETE.id,
    facts.WRITE_VALUE: serialization.WRITE_VALUES.id,
    facts.WRITE_FOREIGN: pending_writes.SCOPED.id,
    facts.WRITES_SCOPED: pending_writes.SCOPED.id,
    facts.WRITE_ORDER: ordering.WRITES_SORTED.id,
    facts.EMPTY_BATCH: pending_writes.EMPTY_BATCH.id,
    facts.VERSION: channels.VERSIONS_INCREASE.id,
    facts.VERSION_RAISED: channels.VERSIONS_INCREASE.id,
    facts.INPUT: identity.INPUTS_UNTOUCHED.id,
    facts.ROOT_BY_DEFAULT: identity.GET_DEFAULTS_TO_ROOT.id,
    facts.NONE_ID: identity.NONE_ID_IS_LATEST.id,
    facts.LOOP_CONFIG: identity.LOOP_CONFIGS.id,
    facts.SNAPSHOT: identity.SNAPSHOTS.id,
    facts.SELECTION: identity.LIST_SELECTS.id,
    facts.SELECTED: identity.LIST_SELECTS.id,
    facts.SELECTED_TWICE: identity.LIST_SELECTS.id,
    facts.BEFORE: ordering.BEFORE_IS_EXCLUSIVE.id,
    facts.LISTED_ALIKE: pending_writes.SAME_IN_LIST.id,
    facts.LISTED_ORDER: ordering.LIST_NEWEST_FIRST.id,
    facts.ORDER_OF_ALL: ordering.ALL_THREADS_NEWEST_FIRST.id,
    facts.LIMIT: ordering.LIMIT_IS_A_PREFIX.id,
    facts.LIMIT_RAISED: ordering.LIMIT_IS_A_PREFIX.id,
    facts.PAGES: ordering.PAGES_TILE.id,
    facts.KEPT: deletion.PRUNE_DROPS_OLDER.id,
    facts.REBUILT: deletion.PRUNE_KEEPS_DELTA_CHAIN.id,
    facts.REFUSED_PRUNE: deletion.PRUNE_KEEPS_DELTA_CHAIN.id,
    facts.COPIES_APART: deletion.COPY_INDEPENDENT.id,
    facts.THREADS_APART: isolation.THREADS.id,
    facts.NAMESPACES_APART: isolation.NAMESPACES.id,
    facts.HOSTILE_REFUSED: isolation.HOSTILE_IDENTIFIERS.id,
    facts.SEEN_ELSEWHERE: isolation.WORKSPACES.id,
    facts.PUT_ELSEWHERE: isolation.WORKSPACES.id,
    facts.MODE: isolation.PRIVATE_FILES.id,
    facts.ACCEPTED: serialization.UNSERIALIZABLE_IS_REFUSED.id,
    facts.COUNT: serialization.LARGE.id,
    facts.PLAINTEXT: serialization.ENCRYPTED_AT_REST.id,
    facts.CHANNELS: delta_history.MATCHES_WALK.id,
    facts.HISTORY: delta_history.MATCHES_WALK.id,
    facts.HISTORY_RAISED: delta_history.MATCHES_WALK.id,
    facts.SAME_ANSWERS: parity.SAME_ANSWERS.id,
    facts.HANG: parity.NO_EVENT_LOOP_HANG.id,
    facts.WRITE_HANG: parity.NO_EVENT_LOOP_HANG_IN_WRITES.id,
    facts.FIRST_OPERATION: lifecycle.ANY_FIRST_OPERATION.id,
    facts.FIRST_OPERATION_BEFORE_SETUP: lifecycle.ANY_FIRST_OPERATION_BEFORE_SETUP.id,
    **{fact: BY_REMOVAL[operation] for operation, fact in facts.REMOVED.items()},
    **{fact: BY_FILTER[sort] for sort, fact in facts.FILTERED.items()},
}
BY_CIRCUMSTANCE: Mapping[Circumstance, str] = {
    records.COPIED: deletion.COPY_COMPLETE.id,
    records.PRUNED_TO: deletion.PRUNE_LATEST.id,
    records.PUT_AGAIN: upsert.PUT_IS_IDEMPOTENT.id,
    records.REPLACED: upsert.PUT_REPLACES.id,
    records.WRITES_BEFORE_REPUT: upsert.REPUT_KEEPS_WRITES.id,
    records.HAS_CHILD: channels.HISTORY_IMMUTABLE.id,
    records.EARLY: pending_writes.EARLY_WRITES_KEPT.id,
    records.LATE: pending_writes.LATE_WRITES.id,
    records.TWO_PATHS: pending_writes.ONE_TASK_TWO_PATHS.id,
    records.SPECIAL: pending_writes.SPECIAL_INDEX.id,
    records.SPECIAL_AGAIN: upsert.SPECIAL_WRITE_LAST_WINS.id,
    records.SPECIAL_AGAIN_MIXED: upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id,
    records.ADDED: upsert.REGULAR_WRITE_FIRST_WINS.id,
    **{mark: BY_RETURN[operation] for operation, mark in records.RETURNED.items()},
    **{mark: contract for contract, mark in EVIDENCE.items()},
}
BY_CAUSE: Mapping[Cause, str] = {
    Cause.ANY_UNKNOWN: identity.UNKNOWN_IS_NONE.id,
    Cause.OTHER_THREAD: isolation.THREADS.id,
    Cause.OTHER_NAMESPACE: isolation.NAMESPACES.id,
    Cause.CHANGED_ANSWER: identity.SNAPSHOTS.id,
    Cause.REFUSED_PRUNE: deletion.PRUNE_KEEPS_DELTA_CHAIN.id,
    Cause.SET_UP_ALREADY: lifecycle.SETUP_IDEMPOTENT.id,
    Cause.EMPTY_THREAD: identity.UNKNOWN_IS_NONE.id,
    Cause.NONE_ARGUMENTS: identity.LOOP_CONFIGS.id,
    Cause.NONE_ID: identity.NONE_ID_IS_LATEST.id,
    Cause.NO_NAMESPACE: identity.GET_DEFAULTS_TO_ROOT.id,
    Cause.LOOP_CONFIG: identity.LOOP_CONFIGS.id,
    Cause.BEFORE: ordering.BEFORE_IS_EXCLUSIVE.id,
    Cause.CRITERION: identity.LIST_SELECTS.id,
}
"""What a second look settles, whatever the fact and the step."""
WHOLE_STEP: Mapping[type[steps.Step], str] = {
    steps.DeleteThread: deletion.THREAD_ALL.id,
    steps.DeleteForRuns: deletion.RUNS.id,
    steps.Prune: deletion.PRUNE_LATEST.id,
    steps.Reopen: lifecycle.REOPEN.id,
    steps.SetUp: lifecycle.SETUP_IDEMPOTENT.id,
    steps.CloseAgain: lifecycle.CLOSE_IDEMPOTENT.id,
    steps.AbandonList: lifecycle.ABANDONED_LIST.id,
    steps.Clone: lifecycle.SHALLOW_CLONE.id,
    steps.DropClone: lifecycle.SHALLOW_CLONE.id,
    steps.CloseClone: lifecycle.SHALLOW_CLONE.id,
    steps.Elsewhere: isolation.WORKSPACES.id,
    steps.RefuseValue: serialization.UNSERIALIZABLE_IS_REFUSED.id,
    steps.Bulk: serialization.LARGE.id,
}
"""Steps after which nothing else may differ: any difference is theirs."""
BY_STEP: Mapping[type[steps.Step], str] = {
    **WHOLE_STEP,
    steps.CopyThread: deletion.COPY_COMPLETE.id,
    steps.WalkPages: ordering.PAGES_TILE.id,
    steps.DeltaHistory: delta_history.MATCHES_WALK.id,
    steps.NextVersions: channels.VERSIONS_INCREASE.id,
}


def answered(step: steps.Step) -> str:
    """The contract that a step leans on by being answered at all."""
    match step:
        case steps.PutWrites():
            return (pending_writes.COMPLETE if step.writes else pending_writes.EMPTY_BATCH).id
        case steps.GetTuple(number=None):
            return ordering.LATEST_IS_GREATEST_ID.id
        case steps.GetTuple():
            return identity.TUPLE_ADDRESSES_ITSELF.id
        case steps.ListTuples() if step.filter:
            return BY_FILTER[sort_of(step.filter)]
        case steps.ListTuples():
            limited = step.limit is not None
            return (ordering.LIMIT_IS_A_PREFIX if limited else identity.LIST_SELECTS).id
        case steps.CallOnLoop():
            return parity.NO_EVENT_LOOP_HANG.id
        case steps.CheckFiles():
            private = step.look_for == "private"
            return (isolation.PRIVATE_FILES if private else serialization.ENCRYPTED_AT_REST).id
        case steps.FirstOperation(set_up=True):
            return lifecycle.ANY_FIRST_OPERATION.id
        case steps.FirstOperation():
            return lifecycle.ANY_FIRST_OPERATION_BEFORE_SETUP.id
    return BY_STEP.get(type(step), identity.PUT_RETURNS_ADDRESS.id)


_JUDGED: dict[Judged, str] = dict((*BY_FACT.items(), *BY_CIRCUMSTANCE.items(), *BY_STEP.items()))


def counted(judged: Mapping[Judged, int]) -> Counter[str]:
    """How often each contract was judged, given how often each fact was."""
    total: Counter[str] = Counter()
    for fact, times in judged.items():
        total[_JUDGED[fact]] += times
    return total
