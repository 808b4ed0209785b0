"""Features of steps that have a contract of their own, and how to write a program without them.

A difference seen in a program with hostile thread ids may have nothing to do with them. So a
difference is first blamed on what it is, and then each feature of the program that has its own
contract is taken out in turn: if the difference goes with it, the feature's contract is broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from saverproof.contracts.tables import (
    channels,
    filtering,
    identity,
    isolation,
    lifecycle,
    ordering,
    pending_writes,
    serialization,
    upsert,
)
from saverproof.model.records import Circumstance
from saverproof.programs import renaming, rewriting
from saverproof.programs.rewriting import is_mixed, is_special
from saverproof.steps.definitions import (
    PLAIN,
    AbandonList,
    Clone,
    CloseAgain,
    CloseClone,
    DropClone,
    Extras,
    IdForm,
    Program,
    Put,
    PutWrites,
    Reopen,
    SetUp,
    Step,
)
from saverproof.values import CATALOGUE, Value

_PLAIN_THREAD = re.compile(r"(?!null$)[a-z]+\d*")
_PLAIN_GROUPS = frozenset({"plain"})
CLONES = (Clone, DropClone, CloseClone)
_PLAIN_KEYS = frozenset({"source", "step", "parents", "run_id", "counters_since_delta_snapshot"})

Kind = type[Put] | type[PutWrites]


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A feature with a contract: which steps have it, and the program without it.

    ``evident`` says that a step alone shows it, so that judging the step is evidence. With
    ``only_for`` it is asked about breaches of these contracts alone, and never about those in
    ``never_for``, which speak of it themselves; with ``facts`` only about differences of these
    kinds. A feature whose contract is empty stands for what
    two steps have to do with each other, which the breach's own contract is about: if the breach
    stays without it, that contract was blamed in error.
    """

    contract: str
    touches: Callable[[Step], bool]
    without: Callable[[Program], Program]
    evident: bool = True
    only_for: frozenset[str] = frozenset()
    never_for: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()

    def may_be_behind(self, contract: str) -> bool:
        """Whether the feature is asked about when this contract is broken."""
        if contract in self.never_for or contract in NEVER_BEHIND_A_FEATURE:
            return False
        return not self.only_for or contract in self.only_for


def present(program: Program) -> list[Feature]:
    """The features of a program, the most telling first."""
    return [f for f in FEATURES if any(map(f.touches, program)) and f.without(program) != program]


def asked_about(program: Program, contract: str, kind: str | None = None) -> list[Feature]:
    """The features of a program that may be behind a breach of a contract by a kind of fact."""
    return [
        f
        for f in present(program)
        if f.may_be_behind(contract) and (kind is None or not f.facts or kind in f.facts)
    ]


def of_family(contracts: Iterable[str]) -> tuple[Feature, ...]:
    """The features that belong to these contracts and that a single step shows."""
    wanted = frozenset(contracts)
    return tuple(f for f in FEATURES if f.evident and f.contract in wanted)


def evidence(step: Step, features: Iterable[Feature]) -> Iterable[Circumstance]:
    """What judging a step is evidence of, by its own features."""
    return (EVIDENCE[feature.contract] for feature in features if feature.touches(step))


def _values(step: Step) -> list[Value]:
    if isinstance(step, Put):
        return [value for _, value in step.changes if value is not None]
    return [value for _, value in step.writes] if isinstance(step, PutWrites) else []


def _values_of(contract: str, kind: Kind, wanted: Callable[[str], bool], *facts: str) -> Feature:
    """A feature that is values of certain groups; without it they are texts."""

    def touches(step: Step) -> bool:
        return isinstance(step, kind) and any(
            wanted(CATALOGUE[value.kind].group) for value in _values(step)
        )

    def plain(value: Value | None) -> Value | None:
        if value is None or not wanted(CATALOGUE[value.kind].group):
            return value
        return Value("text", f"{value.kind} {value.seed}")

    def change(step: Step) -> Step:
        if isinstance(step, Put) and kind is Put:
            return replace(step, changes=tuple((n, plain(v)) for n, v in step.changes))
        if isinstance(step, PutWrites) and kind is PutWrites:
            return replace(step, writes=tuple((n, plain(v) or v) for n, v in step.writes))
        return step

    return Feature(contract, touches, _each(change), facts=frozenset(facts))


def _each(change: Callable[[Any], Step]) -> Callable[[Program], Program]:
    return lambda program: tuple(map(change, program))


def _field(contract: str, name: str, plain: Any) -> Feature:
    """A feature that is one field of a step, and its plain value."""

    def touches(step: Step) -> bool:
        return bool(getattr(step, name, plain) != plain)

    def change(step: Any) -> Step:
        changed: Step = replace(step, **{name: plain}) if touches(step) else step
        return changed

    return Feature(contract, touches, _each(change))


def _extras(contract: str, name: str) -> Feature:
    """A feature that is one field of a config's extras."""

    def touches(step: Step) -> bool:
        return bool(getattr(getattr(step, "extras", PLAIN), name))

    def change(step: Any) -> Step:
        if not touches(step):
            return step  # type: ignore[no-any-return]
        extras: Extras = replace(step.extras, **{name: getattr(PLAIN, name)})
        changed: Step = replace(step, extras=PLAIN if extras == PLAIN else extras)
        return changed

    return Feature(contract, touches, _each(change))


def _metadata_keys(contract: str, wanted: Callable[[str], bool], *never_for: str) -> Feature:
    """A feature that is certain keys of the metadata."""

    def touches(step: Step) -> bool:
        return isinstance(step, Put) and any(map(wanted, step.metadata or {}))

    def change(step: Step) -> Step:
        if not isinstance(step, Put) or not step.metadata:
            return step
        kept = {key: value for key, value in step.metadata.items() if not wanted(key)}
        return replace(step, metadata=kept)

    return Feature(contract, touches, _each(change), never_for=frozenset(never_for))


def _between(
    contract: str,
    touches: Callable[[Step], bool],
    without: Callable[[Program], Program],
    *only_for: str,
    facts: frozenset[str] = frozenset(),
) -> Feature:
    """A feature that no step alone shows."""
    return Feature(contract, touches, without, False, frozenset(only_for), facts=facts)


def is_hostile(thread: str) -> bool:
    """Whether a thread id is one that a saver may confuse, or refuse."""
    return not _PLAIN_THREAD.fullmatch(thread)


def _is(*kinds: type[Step]) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, kinds)


def _hostile_thread(step: Step) -> bool:
    return any(map(is_hostile, renaming.threads(step)))


def _named_namespace(step: Step) -> bool:
    return not renaming.is_plain_namespace(getattr(step, "namespace", None) or "")


def _in_a_namespace(step: Step) -> bool:
    return bool(getattr(step, "namespace", None))


def _odd_name(step: Step) -> bool:
    if isinstance(step, PutWrites) and not renaming.PLAIN_PATH.fullmatch(step.path):
        return True
    return not all(map(renaming.PLAIN_NAME.fullmatch, renaming.names(step)))


def _is_copy(step: Step) -> bool:
    return isinstance(step, Put) and step.copy_of is not None


def _is_empty_batch(step: Step) -> bool:
    return isinstance(step, PutWrites) and not step.writes


def _puts_none(step: Step) -> bool:
    return isinstance(step, Put) and any(
        v is not None and v.kind == "none" for _, v in step.changes
    )


def _writes_none(step: Step) -> bool:
    return isinstance(step, PutWrites) and any(value.kind == "none" for _, value in step.writes)


REFUSED = frozenset({"raised", "unreadable"})
LIFE = (
    _between(
        lifecycle.ANY_FIRST_OPERATION_BEFORE_SETUP.id, _is(Step), rewriting.begun, facts=REFUSED
    ),
    _between(lifecycle.SETUP_IDEMPOTENT.id, _is(SetUp), rewriting.without(SetUp)),
    _between(lifecycle.CLOSE_IDEMPOTENT.id, _is(CloseAgain), rewriting.reopened_only),
    _between("", _is(Reopen), rewriting.set_up_only, lifecycle.REOPEN.id),
    _between(lifecycle.REOPEN.id, _is(Reopen), rewriting.without(Reopen)),
    _between(lifecycle.ABANDONED_LIST.id, _is(AbandonList), rewriting.without(AbandonList)),
    _between(lifecycle.SHALLOW_CLONE.id, _is(*CLONES), rewriting.without(*CLONES)),
)
COMPLETE = pending_writes.COMPLETE.id
INDEX = pending_writes.SPECIAL_INDEX.id
WRITES = (
    COMPLETE,
    INDEX,
    pending_writes.SCOPED.id,
    serialization.WRITE_VALUES.id,
    upsert.REPUT_KEEPS_WRITES.id,
    upsert.REGULAR_WRITE_FIRST_WINS.id,
    upsert.SPECIAL_WRITE_LAST_WINS.id,
    upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id,
)
"""The contracts that a lost or changed write may be blamed on."""
ORDERED = (ordering.WRITES_SORTED.id, *WRITES)
_FILTERS = (
    *(contract.id for contract in filtering.TABLE.contracts),
    isolation.HOSTILE_FILTER_KEYS.id,
)
SELECTING = (ordering.PAGES_TILE.id, *_FILTERS)
"""The contracts of what selects checkpoints, and may find one that was replaced."""
FEATURES: tuple[Feature, ...] = (
    *LIFE,
    _values_of(serialization.NON_FINITE.id, Put, lambda group: group == "non-finite", "raised"),
    _values_of(
        serialization.NON_FINITE.id, PutWrites, lambda group: group == "non-finite", "raised"
    ),
    _values_of(serialization.NUL_IN_STRINGS.id, Put, lambda group: group == "nul", "raised"),
    _values_of(serialization.NUL_IN_STRINGS.id, PutWrites, lambda group: group == "nul", "raised"),
    Feature(isolation.HOSTILE_IDENTIFIERS.id, _hostile_thread, renaming.plain_threads),
    Feature(isolation.NESTED_NAMESPACES.id, _named_namespace, renaming.plain_namespaces),
    _between(
        isolation.NESTED_NAMESPACES.id,
        _in_a_namespace,
        renaming.namespaces_as_threads,
        facts=REFUSED,
    ),
    Feature(
        serialization.NAMES.id,
        _odd_name,
        renaming.plain_names,
        never_for=frozenset({ordering.WRITES_SORTED.id}),
    ),
    _field(serialization.OLDER_CHECKPOINTS.id, "format", None),
    _field(serialization.OLDER_CHECKPOINTS.id, "fields", "usual"),
    _field(serialization.LEGACY_WRITES_METADATA.id, "legacy_writes", None),
    _extras(identity.LOOP_CONFIGS.id, "loop"),
    _extras(serialization.CONFIG_METADATA_MERGED.id, "configurable"),
    _extras(serialization.CONFIG_METADATA_MERGED.id, "metadata"),
    _field(identity.NONE_ID_IS_LATEST.id, "id_form", IdForm.ABSENT),
    _field(pending_writes.NAMESPACE_DEFAULTS.id, "give_namespace", True),
    _field(identity.SNAPSHOTS.id, "mutate_inputs", False),
    _field(identity.SNAPSHOTS.id, "mutate_result", False),
    Feature(pending_writes.EMPTY_BATCH.id, _is_empty_batch, rewriting.batches_filled),
    _between("", _is(Put), rewriting.put_once, upsert.PUT_REPLACES.id, upsert.PUT_IS_IDEMPOTENT.id),
    _between(upsert.PUT_REPLACES.id, _is(Put), rewriting.put_once, *SELECTING),
    _between(
        upsert.SPECIAL_WRITE_LAST_WINS_MIXED.id,
        is_mixed,
        rewriting.unmixed,
        upsert.REGULAR_WRITE_FIRST_WINS.id,
    ),
    _between(COMPLETE, _is(PutWrites), rewriting.distinct_channels, COMPLETE, INDEX),
    _between(COMPLETE, _writes_none, rewriting.without_nones, COMPLETE, INDEX),
    _between(serialization.CHANNEL_VALUES.id, _puts_none, rewriting.put_no_nones, facts=REFUSED),
    _between(serialization.WRITE_VALUES.id, _writes_none, rewriting.without_nones, facts=REFUSED),
    _between(COMPLETE, is_special, rewriting.special_split, COMPLETE, INDEX),
    _between(INDEX, is_special, rewriting.special_apart, COMPLETE, INDEX),
    _between(pending_writes.EARLY_WRITES_KEPT.id, _is(PutWrites), rewriting.early_on_time, *WRITES),
    _between(pending_writes.LATE_WRITES.id, _is(PutWrites), rewriting.writes_on_time, *WRITES),
    _between(pending_writes.LATE_WRITES.id, _is(PutWrites), rewriting.all_on_time, *WRITES),
    _between(pending_writes.ONE_TASK_TWO_PATHS.id, _is(PutWrites), rewriting.one_path, *ORDERED),
    Feature(channels.COPY_FORK.id, _is_copy, rewriting.without_copies),
    _values_of(serialization.CHANNEL_VALUES.id, Put, lambda group: group not in _PLAIN_GROUPS),
    _values_of(serialization.WRITE_VALUES.id, PutWrites, lambda group: group not in _PLAIN_GROUPS),
    _metadata_keys(serialization.METADATA.id, lambda key: key not in _PLAIN_KEYS, *_FILTERS),
)
"""In the order in which they are tried: what an author would name first comes first."""
EVIDENCE = {
    feature.contract: Circumstance(feature.contract) for feature in FEATURES if feature.evident
}

NEVER_BEHIND_A_FEATURE = frozenset(
    {identity.INPUTS_UNTOUCHED.id, isolation.WORKSPACES.id, channels.VERSIONS_INCREASE.id}
)
"""Contracts whose breach says all: no feature of the program excuses it."""
