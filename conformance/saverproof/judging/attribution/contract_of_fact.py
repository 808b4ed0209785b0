"""The contract that makes each fact expected: the first part of attribution.

It tells which contract an agreement is evidence for, and which one a difference breaks if the fact
alone decides. :mod:`saverproof.judging.attribution.rules` decides the other cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from saverproof.contracts.contract import Contract
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
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.model import records
from saverproof.programs.model.records import Circumstance, Provenance
from saverproof.programs.steps import definitions as steps

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
    records.PRUNED_AS_OLDER: deletion.PRUNE_LATEST.id,
}
"""The contract broken by a checkpoint that is still shown, by the operation that removed it."""
BY_RETURN: Mapping[str, str] = {**BY_REMOVAL, "delete_thread": deletion.NO_GHOSTS.id}
"""The contract broken by something removed that is back after a later put, by the removing
operation.
"""

_FACTS: Mapping[str, tuple[Fact, ...]] = {
    identity.UNKNOWN_IS_NONE.id: (facts.ABSENT, facts.EXTRA, facts.UNKNOWN_RAISES),
    # The address that put returned must lead to the checkpoint.
    identity.PUT_RETURNS_ADDRESS.id: (facts.MISSING, facts.UNREADABLE, facts.RETURNED),
    identity.TUPLE_ADDRESSES_ITSELF.id: (facts.MALFORMED, facts.ADDRESS),
    identity.PARENT.id: (facts.PARENT,),
    serialization.CHECKPOINT_FIELDS.id: (facts.FIELD,),
    serialization.METADATA.id: (facts.METADATA,),
    serialization.CONFIG_METADATA_MERGED.id: (facts.METADATA_MERGED, facts.METADATA_BARRED),
    upsert.PUT_REPLACES.id: (facts.METADATA_STALE,),
    serialization.CHANNEL_VALUES.id: (facts.VALUES[Provenance.GIVEN],),
    channels.UNCHANGED_CARRIED.id: (facts.VALUES[Provenance.CARRIED],),
    channels.COPY_FORK.id: (facts.VALUES[Provenance.COPIED],),
    channels.DROPPED_STAYS_DROPPED.id: (facts.VALUES[Provenance.DROPPED],),
    ordering.LATEST_IS_GREATEST_ID.id: (facts.LATEST,),
    pending_writes.COMPLETE.id: (
        facts.WRITE,
        facts.WRITE_MISSING,
        facts.WRITE_EXTRA,
        facts.WRITE_TWICE,
    ),
    serialization.WRITE_VALUES.id: (facts.WRITE_VALUE,),
    pending_writes.SCOPED.id: (facts.WRITE_FOREIGN, facts.WRITES_SCOPED),
    ordering.WRITES_SORTED.id: (facts.WRITE_ORDER,),
    pending_writes.EMPTY_BATCH.id: (facts.EMPTY_BATCH,),
    channels.VERSIONS_INCREASE.id: (facts.VERSION, facts.VERSION_RAISED),
    identity.INPUTS_UNTOUCHED.id: (facts.INPUT,),
    identity.GET_DEFAULTS_TO_ROOT.id: (facts.ROOT_BY_DEFAULT,),
    identity.NONE_ID_IS_LATEST.id: (facts.NONE_ID,),
    identity.EMPTY_ID.id: (facts.EMPTY_ID,),
    identity.LIST_WITHOUT_NAMESPACE.id: (facts.WITHOUT_NAMESPACE,),
    identity.LOOP_CONFIGS.id: (facts.LOOP_CONFIG,),
    identity.SNAPSHOTS.id: (facts.SNAPSHOT,),
    identity.LIST_SELECTS.id: (facts.SELECTION, facts.SELECTED, facts.SELECTED_TWICE),
    ordering.BEFORE_IS_EXCLUSIVE.id: (facts.BEFORE,),
    pending_writes.SAME_IN_LIST.id: (facts.LISTED_ALIKE,),
    ordering.LIST_NEWEST_FIRST.id: (facts.LISTED_ORDER,),
    ordering.ALL_THREADS_NEWEST_FIRST.id: (facts.ORDER_OF_ALL,),
    ordering.LIMIT_IS_A_PREFIX.id: (facts.LIMIT, facts.LIMIT_RAISED),
    ordering.LIMIT_ZERO.id: (facts.LIMIT_ZERO,),
    ordering.PAGES_TILE.id: (facts.PAGES,),
    deletion.PRUNE_DROPS_OLDER.id: (facts.KEPT,),
    deletion.PRUNE_KEEPS_DELTA_CHAIN.id: (facts.REBUILT, facts.REFUSED_PRUNE),
    deletion.RUNS_KEEP_DELTA_CHAIN.id: (facts.REBUILT_AFTER_RUNS,),
    deletion.COPY_INDEPENDENT.id: (facts.COPIES_APART,),
    isolation.THREADS.id: (facts.THREADS_APART,),
    isolation.NAMESPACES.id: (facts.NAMESPACES_APART,),
    isolation.HOSTILE_IDENTIFIERS.id: (facts.HOSTILE_REFUSED,),
    delta_history.MATCHES_WALK.id: (facts.CHANNELS, facts.HISTORY, facts.HISTORY_RAISED),
    parity.SAME_ANSWERS.id: (facts.SAME_ANSWERS,),
}
BY_FACT: Mapping[Fact, str] = {
    **{fact: contract for contract, of in _FACTS.items() for fact in of},
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
    records.SAME_ID: isolation.SAME_ID_IN_NAMESPACES.id,
    records.ADDED: upsert.REGULAR_WRITE_FIRST_WINS.id,
    **{mark: BY_RETURN[operation] for operation, mark in records.RETURNED.items()},
    **{mark: contract for contract, mark in EVIDENCE.items()},
}
BY_CAUSE: Mapping[Cause, str] = {
    Cause.ANY_UNKNOWN: identity.UNKNOWN_IS_NONE.id,
    Cause.OTHER_THREAD: isolation.THREADS.id,
    Cause.OTHER_NAMESPACE: isolation.NAMESPACES.id,
    Cause.ELSEWHERE: isolation.WORKSPACES.id,
    Cause.CHANGED_ANSWER: identity.SNAPSHOTS.id,
    Cause.REFUSED_PRUNE: deletion.PRUNE_KEEPS_DELTA_CHAIN.id,
    Cause.SET_UP_ALREADY: lifecycle.SETUP_IDEMPOTENT.id,
    Cause.EMPTY_THREAD: identity.UNKNOWN_IS_NONE.id,
    Cause.NONE_ARGUMENTS: identity.LOOP_CONFIGS.id,
    Cause.ID_FORM: identity.NONE_ID_IS_LATEST.id,
    Cause.NAMESPACE_LEFT_OUT: identity.LIST_WITHOUT_NAMESPACE.id,
    Cause.LOOP_CONFIG: identity.LOOP_CONFIGS.id,
    Cause.BEFORE: ordering.BEFORE_IS_EXCLUSIVE.id,
    Cause.PLACE: identity.LIST_SELECTS.id,
    Cause.HOWEVER_ASKED: identity.LIST_SELECTS.id,
}
"""The contract for each cause that a second look can find, whatever the fact is."""
BY_CAUSE_OF_READ: Mapping[Cause, str] = {
    **BY_CAUSE,
    Cause.NAMESPACE_LEFT_OUT: identity.GET_DEFAULTS_TO_ROOT.id,
}
"""The contract for each cause, where the step was a read of one checkpoint."""
WHOLE_STEP: Mapping[type[steps.Step], str] = {
    steps.DeleteThread: deletion.THREAD_ALL.id,
    steps.DeleteForRuns: deletion.RUNS.id,
    steps.Prune: deletion.PRUNE_LATEST.id,
    steps.Reopen: lifecycle.REOPEN.id,
    steps.SetUp: lifecycle.SETUP_IDEMPOTENT.id,
}
"""The contract for any difference after a step that must change nothing else. Scenes are such steps
too, and name their contract themselves.
"""
BY_STEP: Mapping[type[steps.Step], str] = {
    **WHOLE_STEP,
    steps.CopyThread: deletion.COPY_COMPLETE.id,
    steps.WalkPages: ordering.PAGES_TILE.id,
    steps.DeltaHistory: delta_history.MATCHES_WALK.id,
    steps.NextVersions: channels.VERSIONS_INCREASE.id,
}


def of_whole_step(step: steps.Step, fact: Fact) -> str:
    """Return the contract that a difference after this step breaks, by the step alone.

    The step is a scene, or of a kind in ``WHOLE_STEP``: whatever differs after it is blamed on it.
    """
    return step.contract_of(fact).id if isinstance(step, Scene) else WHOLE_STEP[type(step)]


def answered(step: steps.Step) -> str:
    """Return the contract that an answer to this step is evidence for, whatever the answer is."""
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
        case Scene():
            return step.contract.id
    return BY_STEP.get(type(step), identity.PUT_RETURNS_ADDRESS.id)


_JUDGED: dict[Judged, str] = dict((*BY_FACT.items(), *BY_CIRCUMSTANCE.items(), *BY_STEP.items()))


def counted(judged: Mapping[Judged, int]) -> Counter[str]:
    """Return how often each contract was judged, from how often each fact was."""
    total: Counter[str] = Counter()
    for fact, times in judged.items():
        total[fact.id if isinstance(fact, Contract) else _JUDGED[fact]] += times
    return total
