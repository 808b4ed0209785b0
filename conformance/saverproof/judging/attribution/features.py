"""Features of steps that have a contract of their own, and how to take them out of a program.

A difference in a program with hostile thread ids may have nothing to do with these ids. So it is
first blamed on the contract of the fact. Then each feature with its own contract is taken out of
the program in turn. If the difference goes with the feature, the feature's contract is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from saverproof.contracts.tables import (
    channels,
    deletion,
    filtering,
    identity,
    isolation,
    lifecycle,
    ordering,
    pending_writes,
    serialization,
    upsert,
)
from saverproof.judging import facts
from saverproof.judging.attribution.feature import (
    Feature,
    between,
    extras_of,
    field_of,
    metadata_keys,
    values_of,
)
from saverproof.judging.attribution.odd_names import (
    has_hostile_namespace,
    has_hostile_thread,
    has_named_namespace,
    has_odd_name,
    is_in_a_namespace,
    plain_nodes,
)
from saverproof.judging.scenes.abandoned_list import AbandonList
from saverproof.judging.scenes.clones import CLONES
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.scenes.scene import Scene
from saverproof.judging.scenes.second_saver import TakeTurns
from saverproof.programs.model.records import Circumstance
from saverproof.programs.rewriting import renaming, rewriting_batches, rewritten
from saverproof.programs.rewriting.rewriting_batches import is_mixed, is_special
from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.definitions import IdForm, Program, Put, PutWrites, Step

_PLAIN_GROUPS = frozenset({"plain"})
_PLAIN_KEYS = frozenset({"source", "step", "parents", "run_id", "counters_since_delta_snapshot"})


def asked_about(
    program: Program,
    contract: str,
    kind: str | None = None,
    concerned: Callable[[Feature], bool] = lambda feature: True,
) -> Iterator[Feature]:
    """Yield the features of a program that may be behind a breach, the most telling first.

    A feature with parts is given part by part. ``kind`` is the kind of fact that differs. Only
    features for which ``concerned`` is true are given. Whether the program has a feature is checked
    last, because that takes longest.
    """
    for feature in FEATURES:
        parts = [
            part
            for part in feature.parts or (feature,)
            if part.may_be_behind(contract)
            and (kind is None or not part.facts or kind in part.facts)
            and concerned(part)
        ]
        if parts and any(map(feature.touches, program)):
            for part in parts:
                if any(map(part.touches, program)) and part.without(program) != program:
                    yield part


def of_family(contracts: Iterable[str]) -> tuple[Feature, ...]:
    """Return the features that belong to these contracts and that a single step can show."""
    wanted = frozenset(contracts)
    return tuple(f for f in FEATURES if f.evident and f.contract in wanted)


def evidence(step: Step, features: Iterable[Feature]) -> Iterable[Circumstance]:
    """Return the circumstances that judging a step is evidence for: one for each feature it has."""
    return (EVIDENCE[feature.contract] for feature in features if feature.touches(step))


def _is(*kinds: type[Step]) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, kinds)


def _is_copy(step: Step) -> bool:
    return isinstance(step, Put) and step.copy_of is not None


def _is_empty_batch(step: Step) -> bool:
    return isinstance(step, PutWrites) and not step.writes


def _puts_none(step: Step) -> bool:
    return isinstance(step, Put) and any(v is not None and v.is_none for _, v in step.changes)


def _writes_none(step: Step) -> bool:
    return isinstance(step, PutWrites) and any(value.is_none for _, value in step.writes)


def _set_up_only(program: Program) -> Program:
    """Replace each reopening by a set-up of the open saver."""
    return tuple(steps.SetUp() if isinstance(step, steps.Reopen) else step for step in program)


def _played(*kinds: type[Scene], facts: frozenset[str] = frozenset()) -> Feature:
    """Return the feature that a program has scenes of these kinds. To take the feature away, each
    scene is replaced by its plain step.
    """

    def plain(program: Program) -> Program:
        left = (step.plain() if isinstance(step, kinds) else step for step in program)
        return tuple(step for step in left if step is not None)

    return between(kinds[0].about.id, _is(*kinds), plain, facts=facts)


REFUSED = frozenset({"raised", "unreadable"})
_UNREADABLE = frozenset({facts.UNREADABLE.name})
COMPLETE = pending_writes.COMPLETE.id
_WAITING = (COMPLETE, pending_writes.EARLY_WRITES_KEPT.id)
"""Contracts that writes may be blamed on which wait for their checkpoint, and show with its put: a
removal in between may have swept them away.
"""
LIFE = (
    between(
        lifecycle.ANY_FIRST_OPERATION_BEFORE_SETUP.id, _is(Step), rewritten.begun, facts=REFUSED
    ),
    between(lifecycle.SETUP_IDEMPOTENT.id, _is(steps.SetUp), rewritten.without(steps.SetUp)),
    _played(CloseAgain),
    between("", _is(steps.Reopen), _set_up_only, lifecycle.REOPEN.id),
    # What shows only later, as a write whose checkpoint comes after it, may go at a set-up, too.
    between(lifecycle.REOPEN.id, _is(steps.Reopen), _set_up_only, *_WAITING),
    between(lifecycle.REOPEN.id, _is(steps.Reopen), rewritten.without(steps.Reopen)),
    _played(AbandonList),
    _played(*CLONES),
    _played(TakeTurns),
)
INDEX = pending_writes.SPECIAL_INDEX.id
_AGAIN = (
    upsert.REGULAR_WRITE_FIRST_WINS.id,
    upsert.SPECIAL_WRITE_LAST_WINS.id,
    upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id,
)
"""Contracts about a task that writes to its checkpoint again."""
_LIKE_A_RETRY = (
    *(serialization.WRITE_VALUES.id, deletion.NO_GHOSTS.id),
    *(deletion.RUNS.id, deletion.PRUNE_LATEST.id),
)
"""Contracts that a batch written again may seem to break: a wrong value, or a return from
removal.
"""
WRITES = (
    COMPLETE,
    INDEX,
    pending_writes.SCOPED.id,
    serialization.WRITE_VALUES.id,
    upsert.REPUT_KEEPS_WRITES.id,
    *_AGAIN,
)
"""Contracts that a lost or changed write may be blamed on."""
ORDERED = (ordering.WRITES_SORTED.id, *WRITES)
_FILTERS = (
    *(contract.id for contract in filtering.TABLE.contracts),
    isolation.HOSTILE_FILTER_KEYS.id,
)
_LISTS = (
    *(ordering.LIST_NEWEST_FIRST.id, ordering.ALL_THREADS_NEWEST_FIRST.id),
    *(ordering.BEFORE_IS_EXCLUSIVE.id, ordering.LIMIT_IS_A_PREFIX.id, ordering.PAGES_TILE.id),
    *(identity.LIST_SELECTS.id, isolation.THREADS.id, *_FILTERS),
)
"""Contracts of listings. Missing or wrong metadata does not excuse a breach of them."""
SELECTING = (ordering.PAGES_TILE.id, *_FILTERS)
"""Contracts of operations that select checkpoints, and may select one that was replaced."""
_CONTENTS = (
    *(serialization.CHANNEL_VALUES.id, channels.UNCHANGED_CARRIED.id),
    channels.DROPPED_STAYS_DROPPED.id,
)
"""Contracts that a wrong value may be blamed on, if the value was there before a removal."""
_PUT_AGAIN = (upsert.PUT_REPLACES.id, upsert.PUT_IS_IDEMPOTENT.id)
"""Contracts about putting a checkpoint again, whether or not it was removed in between."""
_STORED = (serialization.METADATA.id, serialization.CHECKPOINT_FIELDS.id, *_CONTENTS)
"""Contracts that the listed contents of a replaced checkpoint may be blamed on."""
FEATURES: tuple[Feature, ...] = (
    *LIFE,
    # What a copy shares with its source is gone with the source.
    between(
        deletion.COPY_INDEPENDENT.id,
        _is(steps.CopyThread),
        rewritten.other_sides_kept,
        facts=REFUSED,
    ),
    values_of(serialization.NON_FINITE.id, Put, lambda group: group == "non-finite", "raised"),
    values_of(
        serialization.NON_FINITE.id, PutWrites, lambda group: group == "non-finite", "raised"
    ),
    values_of(serialization.NUL_IN_STRINGS.id, Put, lambda group: group == "nul", "raised"),
    values_of(serialization.NUL_IN_STRINGS.id, PutWrites, lambda group: group == "nul", "raised"),
    Feature(isolation.HOSTILE_IDENTIFIERS.id, renaming.plain_threads, touches=has_hostile_thread),
    between(isolation.SAME_ID_IN_NAMESPACES.id, is_in_a_namespace, rewritten.ids_apart),
    Feature(isolation.HOSTILE_IDENTIFIERS.id, plain_nodes, touches=has_hostile_namespace),
    Feature(isolation.NESTED_NAMESPACES.id, renaming.plain_namespaces, touches=has_named_namespace),
    between(
        isolation.NESTED_NAMESPACES.id,
        is_in_a_namespace,
        renaming.namespaces_as_threads,
        facts=REFUSED,
    ),
    # Nothing is stored under the id where it is asked for.
    between(
        isolation.NAMESPACES.id,
        _is(steps.GetTuple),
        rewritten.never_asked_elsewhere,
        facts=REFUSED | {facts.EXTRA.name},
    ),
    Feature(
        serialization.NAMES.id,
        renaming.plain_names,
        touches=has_odd_name,
        never_for=frozenset({ordering.WRITES_SORTED.id}),
    ),
    field_of(serialization.OLDER_CHECKPOINTS.id, "format", None),
    field_of(serialization.OLDER_CHECKPOINTS.id, "fields", "usual"),
    field_of(serialization.LEGACY_WRITES_METADATA.id, "legacy_writes", None),
    field_of(channels.VERSIONS_OF_CALLERS.id, "versions", steps.VersionsBy.SAVER),
    extras_of(identity.LOOP_CONFIGS.id, "loop"),
    extras_of(serialization.CONFIG_METADATA_MERGED.id, "configurable"),
    # The run id of a checkpoint may come from there. A listing shows whether it was merged.
    replace(
        extras_of(serialization.CONFIG_METADATA_MERGED.id, "metadata"),
        never_for=frozenset({deletion.RUNS.id}),
    ),
    Feature(
        identity.EMPTY_ID.id,
        rewritten.no_empty_ids,
        touches=lambda step: getattr(step, "id_form", None) is IdForm.EMPTY,
        facts=REFUSED,
    ),
    replace(
        field_of(identity.NONE_ID_IS_LATEST.id, "id_form", IdForm.ABSENT),
        never_for=frozenset({identity.EMPTY_ID.id}),
    ),
    field_of(pending_writes.NAMESPACE_DEFAULTS.id, "give_namespace", True),
    field_of(identity.SNAPSHOTS.id, "mutate_inputs", False),
    field_of(identity.SNAPSHOTS.id, "mutate_result", False),
    Feature(
        pending_writes.EMPTY_BATCH.id, rewriting_batches.batches_filled, touches=_is_empty_batch
    ),
    between("", _is(Put), rewritten.put_once, upsert.PUT_REPLACES.id, upsert.PUT_IS_IDEMPOTENT.id),
    between(upsert.PUT_REPLACES.id, _is(Put), rewritten.put_once, *SELECTING, *_STORED),
    between(
        deletion.COPY_COMPLETE.id,
        _is(steps.CopyThread),
        rewritten.put_for_copied,
        *(ordering.LATEST_IS_GREATEST_ID.id, pending_writes.SCOPED.id),
        *(upsert.REGULAR_WRITE_FIRST_WINS.id, ordering.WRITES_SORTED.id, *_FILTERS),
    ),
    between(pending_writes.SCOPED.id, _is(PutWrites), rewriting_batches.tasks_apart, *ORDERED),
    between(
        upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id,
        is_mixed,
        rewriting_batches.unmixed,
        upsert.REGULAR_WRITE_FIRST_WINS.id,
    ),
    between("", _is(PutWrites), rewriting_batches.written_once, *_AGAIN),
    *(
        between(contract, touches, rewriting_batches.written_once, *_LIKE_A_RETRY)
        for contract, touches in (
            (upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id, is_mixed),
            (upsert.SPECIAL_WRITE_LAST_WINS.id, is_special),
            (upsert.REGULAR_WRITE_FIRST_WINS.id, _is(PutWrites)),
        )
    ),
    between(
        deletion.NO_GHOSTS.id,
        _is(steps.DeleteThread),
        renaming.other_threads_after_deletes,
        *_CONTENTS,
        *WRITES,
        *_FILTERS,
    ),
    *(
        between(
            contract,
            _is(kind),
            rewritten.without(kind),
            *(*_CONTENTS, *_PUT_AGAIN, *_WAITING, *_FILTERS),
        )
        for contract, kind in (
            (deletion.RUNS.id, steps.DeleteForRuns),
            (deletion.PRUNE_LATEST.id, steps.Prune),
        )
    ),
    between(
        deletion.THREAD_ALL.id,
        _is(steps.DeleteThread),
        rewritten.without(steps.DeleteThread),
        *_WAITING,
    ),
    _played(RefuseValue, facts=REFUSED),
    # A saver that does not keep what it is given does not keep it in a second workspace, either.
    replace(
        _played(Elsewhere, facts=REFUSED | {facts.MISSING.name}),
        only_for=frozenset({isolation.WORKSPACES.id}),
    ),
    between(COMPLETE, _is(PutWrites), rewriting_batches.distinct_channels, COMPLETE, INDEX),
    between(COMPLETE, _writes_none, rewriting_batches.without_nones, COMPLETE, INDEX),
    between(serialization.CHANNEL_VALUES.id, _puts_none, rewritten.put_no_nones, facts=REFUSED),
    between(
        serialization.WRITE_VALUES.id, _writes_none, rewriting_batches.without_nones, facts=REFUSED
    ),
    between(COMPLETE, is_special, rewriting_batches.special_split, COMPLETE, INDEX),
    between(INDEX, is_special, rewriting_batches.special_apart, COMPLETE, INDEX),
    # Nobody sees an early write until its checkpoint is put.
    between(
        isolation.NAMESPACES.id,
        is_in_a_namespace,
        renaming.threads_for_namespaces,
        COMPLETE,
        pending_writes.EARLY_WRITES_KEPT.id,
    ),
    between(
        pending_writes.EARLY_WRITES_KEPT.id,
        _is(PutWrites),
        rewriting_batches.early_on_time,
        *WRITES,
    ),
    between(
        pending_writes.EARLY_WRITES_KEPT.id,
        _is(PutWrites),
        rewriting_batches.early_on_time,
        identity.PUT_RETURNS_ADDRESS.id,
        facts=_UNREADABLE,
    ),
    between(
        pending_writes.LATE_WRITES.id, _is(PutWrites), rewriting_batches.writes_on_time, *WRITES
    ),
    between(pending_writes.LATE_WRITES.id, _is(PutWrites), rewriting_batches.all_on_time, *WRITES),
    between(
        pending_writes.ONE_TASK_TWO_PATHS.id, _is(PutWrites), rewriting_batches.one_path, *ORDERED
    ),
    Feature(channels.COPY_FORK.id, rewritten.without_copies, touches=_is_copy),
    # What was right at first was serialized rightly, wherever the saver keeps such values.
    values_of(
        serialization.CHANNEL_VALUES.id,
        Put,
        lambda group: group not in _PLAIN_GROUPS,
        never_for=frozenset({channels.HISTORY_IMMUTABLE.id}),
    ),
    # The order of writes does not depend on their values.
    values_of(
        serialization.WRITE_VALUES.id,
        PutWrites,
        lambda group: group not in _PLAIN_GROUPS,
        never_for=frozenset({ordering.WRITES_SORTED.id}),
    ),
    metadata_keys(serialization.METADATA.id, lambda key: key not in _PLAIN_KEYS, *_LISTS),
    metadata_keys(
        serialization.METADATA.id,
        lambda key: key in _PLAIN_KEYS,
        only_for=frozenset({identity.PUT_RETURNS_ADDRESS.id}),
    ),
    # If the checkpoint can be read without its writes, their values do not matter, or were blamed
    # above.
    between(
        COMPLETE,
        _is(PutWrites),
        rewritten.without(PutWrites),
        identity.PUT_RETURNS_ADDRESS.id,
        channels.HISTORY_IMMUTABLE.id,
        facts=_UNREADABLE,
    ),
    between(
        pending_writes.SAME_IN_LIST.id,
        _is(PutWrites),
        rewritten.without(PutWrites),
        identity.LIST_SELECTS.id,
        facts=frozenset({facts.RAISED.name}),
    ),
)
"""All features, in the order in which they are tried: those that an author would name come
first.
"""
EVIDENCE = {
    feature.contract: Circumstance(feature.contract) for feature in FEATURES if feature.evident
}
