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

from saverproof.model.records import SPECIAL_INDEX
from saverproof.programs.steps import (
    PLAIN,
    Extras,
    IdForm,
    Program,
    Put,
    PutWrites,
    Step,
)
from saverproof.values import CATALOGUE, Value

PLAIN_THREADS = ("a", "b", "c", "d")
PLAIN_NAMESPACES = ("", "child", "other")
_PLAIN_NAME = re.compile(r"[a-z_]+(:[a-z_]+)*")
_PLAIN_PATH = re.compile(r"[a-z0-9_~, ]*")
_PLAIN_GROUPS = frozenset({"plain"})


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature with a contract: which steps have it, and the program without it.

    ``evident`` says that a step alone shows it, so that judging the step is evidence. With
    ``only_for`` it is asked about breaches of these contracts alone. A feature whose contract is
    empty stands for what two steps have to do with each other, which the breach's own contract is
    about: if the breach stays without it, that contract was blamed in error.
    """

    contract: str
    touches: Callable[[Step], bool]
    without: Callable[[Program], Program]
    evident: bool = True
    only_for: frozenset[str] = frozenset()


def present(program: Program) -> list[Feature]:
    """The features of a program, the most telling first."""
    return [f for f in FEATURES if any(map(f.touches, program)) and f.without(program) != program]


def asked_about(program: Program, contract: str) -> list[Feature]:
    """The features of a program that may be behind a breach of a contract."""
    if contract in NEVER_BEHIND_A_FEATURE:
        return []
    return [f for f in present(program) if not f.only_for or contract in f.only_for]


def of_family(contracts: Iterable[str]) -> tuple[Feature, ...]:
    """The features that belong to these contracts and that a single step shows."""
    wanted = frozenset(contracts)
    return tuple(f for f in FEATURES if f.evident and f.contract in wanted)


def evidence(step: Step, features: Iterable[Feature]) -> Iterable[str]:
    """The contracts that a step's own features put to the test."""
    return (feature.contract for feature in features if feature.touches(step))


def _each(change: Callable[[Any], Step]) -> Callable[[Program], Program]:
    return lambda program: tuple(map(change, program))


def _threads(step: Step) -> list[str]:
    names = [getattr(step, name, None) for name in ("thread", "source", "target")]
    names += getattr(step, "threads", ())
    return [name for name in names if isinstance(name, str)]


def _with_threads(step: Any, names: dict[str, str]) -> Step:
    changes: dict[str, Any] = {
        field: names[getattr(step, field)]
        for field in ("thread", "source", "target")
        if isinstance(getattr(step, field, None), str)
    }
    if getattr(step, "threads", None):
        changes["threads"] = tuple(names[name] for name in step.threads)
    return replace(step, **changes) if changes else step


def _plain_threads(program: Program) -> Program:
    met = dict.fromkeys(name for step in program for name in _threads(step))
    names = {name: f"t{number}" for number, name in enumerate(met)}
    return tuple(_with_threads(step, names) for step in program)


def _plain_namespaces(program: Program) -> Program:
    met = dict.fromkeys(getattr(step, "namespace", None) or "" for step in program)
    names = {"": ""} | {name: f"n{i}" for i, name in enumerate(m for m in met if m)}

    def change(step: Any) -> Step:
        namespace = getattr(step, "namespace", None)
        return replace(step, namespace=names[namespace]) if namespace else step

    return tuple(map(change, program))


def _hostile_thread(step: Step) -> bool:
    return any(not re.fullmatch(r"[a-z]\d*", name) for name in _threads(step))


def _nested(step: Step) -> bool:
    namespace = getattr(step, "namespace", None)
    return bool(namespace) and not str(namespace).isalnum()


def _names(step: Step) -> list[str]:
    if isinstance(step, Put):
        return [step.node, *(name for name, _ in step.changes)]
    if isinstance(step, PutWrites):
        return [name for name, _ in step.writes if name not in SPECIAL_INDEX]
    return []


def _odd_name(step: Step) -> bool:
    odd_path = isinstance(step, PutWrites) and not _PLAIN_PATH.fullmatch(step.path)
    return odd_path or any(not _PLAIN_NAME.fullmatch(name) for name in _names(step))


def _plain_names(program: Program) -> Program:
    met = dict.fromkeys(name for step in program for name in _names(step))
    letters = {name: _word(number) for number, name in enumerate(met)}
    paths = sorted({s.path for s in program if isinstance(s, PutWrites) and s.path})

    def change(step: Step) -> Step:
        if isinstance(step, Put):
            changes = tuple((letters[name], value) for name, value in step.changes)
            return replace(step, node=letters[step.node], changes=changes)
        if isinstance(step, PutWrites):
            writes = tuple((letters.get(name, name), value) for name, value in step.writes)
            path = f"~p, {paths.index(step.path):03d}" if step.path else ""
            return replace(step, writes=writes, path=path)
        return step

    return tuple(map(change, program))


def _word(number: int) -> str:
    return "c" + chr(ord("a") + number // 26) + chr(ord("a") + number % 26)


def _values(step: Step) -> list[Value]:
    if isinstance(step, Put):
        return [value for _, value in step.changes if value is not None]
    return [value for _, value in step.writes] if isinstance(step, PutWrites) else []


def _in_groups(
    kind: type[Put] | type[PutWrites], wanted: Callable[[str], bool]
) -> Callable[[Step], bool]:
    def touches(step: Step) -> bool:
        return isinstance(step, kind) and any(
            wanted(CATALOGUE[value.kind].group) for value in _values(step)
        )

    return touches


def _without_groups(
    kind: type[Put] | type[PutWrites], wanted: Callable[[str], bool]
) -> Callable[[Program], Program]:
    def plain(value: Value | None) -> Value | None:
        if value is None or not wanted(CATALOGUE[value.kind].group):
            return value
        return Value("text", f"{value.kind} {value.seed}")

    def change(step: Step) -> Step:
        if isinstance(step, Put) and kind is Put:
            return replace(step, changes=tuple((n, plain(v)) for n, v in step.changes))
        if isinstance(step, PutWrites) and kind is PutWrites:
            return replace(step, writes=tuple((n, plain(v)) for n, v in step.writes))
        return step

    return _each(change)


def _values_of(
    contract: str, kind: type[Put] | type[PutWrites], wanted: Callable[[str], bool]
) -> Feature:
    return Feature(contract, _in_groups(kind, wanted), _without_groups(kind, wanted))


def _field(contract: str, name: str, plain: Any) -> Feature:
    """A feature that is one field of a step, and its plain value."""

    def touches(step: Step) -> bool:
        return getattr(step, name, plain) != plain

    def change(step: Any) -> Step:
        return replace(step, **{name: plain}) if touches(step) else step

    return Feature(contract, touches, _each(change))


def _extras(contract: str, name: str) -> Feature:
    """A feature that is one field of a config's extras."""

    def touches(step: Step) -> bool:
        return bool(getattr(getattr(step, "extras", PLAIN), name))

    def change(step: Any) -> Step:
        if not touches(step):
            return step
        extras: Extras = replace(step.extras, **{name: getattr(PLAIN, name)})
        return replace(step, extras=PLAIN if extras == PLAIN else extras)

    return Feature(contract, touches, _each(change))


def _metadata_keys(contract: str, wanted: Callable[[str], bool]) -> Feature:
    def touches(step: Step) -> bool:
        return isinstance(step, Put) and any(map(wanted, step.metadata or {}))

    def change(step: Step) -> Step:
        if not isinstance(step, Put) or not step.metadata:
            return step
        kept = {key: value for key, value in step.metadata.items() if not wanted(key)}
        return replace(step, metadata=kept)

    return Feature(contract, touches, _each(change))


def _is_empty_batch(step: Step) -> bool:
    return isinstance(step, PutWrites) and not step.writes


def _no_empty_batches(program: Program) -> Program:
    return tuple(step for step in program if not _is_empty_batch(step))


def _is_writes(step: Step) -> bool:
    return isinstance(step, PutWrites)


def _place(step: Any) -> tuple[str, str, int]:
    return step.thread, step.namespace, step.number


def _writes_on_time(program: Program) -> Program:
    """Each batch right behind the put of its checkpoint, or behind the batch before it there."""
    puts = {_place(step) for step in program if isinstance(step, Put)}
    waiting: dict[tuple[str, str, int], list[Step]] = {}
    for step in program:
        if isinstance(step, PutWrites) and _place(step) in puts:
            waiting.setdefault(_place(step), []).append(step)
    ordered: list[Step] = []
    for step in program:
        if isinstance(step, Put):
            ordered += [step, *waiting.pop(_place(step), [])]
        elif not (isinstance(step, PutWrites) and _place(step) in puts):
            ordered.append(step)
    return tuple(ordered)


def _early_on_time(program: Program) -> Program:
    """Batches that come before their checkpoint moved behind its put, the others left."""
    ordered: list[Step] = []
    waiting: dict[tuple[str, str, int], list[Step]] = {}
    put: set[tuple[str, str, int]] = set()
    coming = {_place(step) for step in program if isinstance(step, Put)}
    for step in program:
        if isinstance(step, PutWrites) and _place(step) in coming - put:
            waiting.setdefault(_place(step), []).append(step)
            continue
        if isinstance(step, PutWrites) and _place(step) not in put:
            put.add(_place(step))
            ordered.append(Put(*_place(step)))
        ordered.append(step)
        if isinstance(step, Put):
            put.add(_place(step))
            ordered += waiting.pop(_place(step), [])
    return tuple(ordered)


def _one_path(program: Program) -> Program:
    first: dict[tuple[Any, int], str] = {}

    def change(step: Step) -> Step:
        if not isinstance(step, PutWrites):
            return step
        return replace(step, path=first.setdefault((_place(step), step.task), step.path))

    return tuple(map(change, program))


def _special_apart(program: Program) -> Program:
    """Special writes under tasks of their own, so that they meet no regular write."""
    apart: list[Step] = []
    for step in program:
        if not isinstance(step, PutWrites) or not _special(step):
            apart.append(step)
            continue
        regular = tuple((n, v) for n, v in step.writes if n not in SPECIAL_INDEX)
        special = tuple((n, v) for n, v in step.writes if n in SPECIAL_INDEX)
        if regular:
            apart.append(replace(step, writes=regular))
        apart.append(replace(step, task=step.task + 50, writes=special))
    return tuple(apart)


def _special(step: Step) -> bool:
    return isinstance(step, PutWrites) and any(name in SPECIAL_INDEX for name, _ in step.writes)


def _mixed(step: Step) -> bool:
    return _special(step) and any(
        name not in SPECIAL_INDEX for name, _ in getattr(step, "writes", ())
    )


def _unmixed(program: Program) -> Program:
    """Mixed batches with regular channels in the place of the special ones."""

    def change(step: Step) -> Step:
        if not isinstance(step, PutWrites) or not _mixed(step):
            return step
        writes = tuple(("c" if n in SPECIAL_INDEX else n, v) for n, v in step.writes)
        return replace(step, writes=writes)

    return tuple(map(change, program))


def _is_put(step: Step) -> bool:
    return isinstance(step, Put)


def _put_once(program: Program) -> Program:
    """Of the puts of one id, the last alone, where the first stood."""
    last = {_place(step): step for step in program if isinstance(step, Put)}
    met: set[tuple[str, str, int]] = set()
    once: list[Step] = []
    for step in program:
        if not isinstance(step, Put):
            once.append(step)
        elif _place(step) not in met:
            met.add(_place(step))
            once.append(last[_place(step)])
    return tuple(once)


def _is_copy(step: Step) -> bool:
    return isinstance(step, Put) and step.copy_of is not None


def _no_copies(program: Program) -> Program:
    """Copy-forks as plain puts, which change what their sources changed."""
    plain: list[Step] = []
    changes: dict[tuple[str, str, int], Any] = {}
    for step in program:
        if isinstance(step, Put):
            if step.copy_of is not None:
                source = (step.thread, step.namespace, step.copy_of)
                step = replace(step, copy_of=None, changes=changes.get(source, ()))
            changes[_place(step)] = step.changes
        plain.append(step)
    return tuple(plain)


def _has_none(step: Step) -> bool:
    return any(value.kind == "none" for value in _values(step))


def _without_nones(program: Program) -> Program:
    def change(step: Step) -> Step:
        if not isinstance(step, PutWrites):
            return step
        writes = tuple(
            (name, Value("text", "none") if value.kind == "none" else value)
            for name, value in step.writes
        )
        return replace(step, writes=writes)

    return tuple(map(change, program))


def _distinct_channels(program: Program) -> Program:
    """No channel twice among the writes of a task."""
    distinct: list[Step] = []
    for number, step in enumerate(program):
        if isinstance(step, PutWrites):
            writes = tuple(
                (name if name in SPECIAL_INDEX else f"c{number}_{position}", value)
                for position, (name, value) in enumerate(step.writes)
            )
            distinct.append(replace(step, writes=writes))
        else:
            distinct.append(step)
    return tuple(distinct)


FEATURES: tuple[Feature, ...] = (
    _values_of("serialization/non-finite", Put, lambda group: group == "non-finite"),
    _values_of("serialization/non-finite", PutWrites, lambda group: group == "non-finite"),
    _values_of("serialization/nul-in-strings", Put, lambda group: group == "nul"),
    _values_of("serialization/nul-in-strings", PutWrites, lambda group: group == "nul"),
    Feature("isolation/hostile-identifiers", _hostile_thread, _plain_threads),
    Feature("isolation/nested-namespaces", _nested, _plain_namespaces),
    Feature("serialization/names", _odd_name, _plain_names),
    _field("serialization/older-checkpoints", "format", None),
    _field("serialization/older-checkpoints", "fields", "usual"),
    _field("serialization/legacy-writes-metadata", "legacy_writes", None),
    _extras("identity/loop-configs", "loop"),
    _extras("serialization/config-metadata-merged", "configurable"),
    _extras("serialization/config-metadata-merged", "metadata"),
    _field("identity/none-id-is-latest", "id_form", IdForm.ABSENT),
    _field("pending-writes/namespace-defaults", "give_namespace", True),
    _field("identity/snapshots", "mutate_inputs", False),
    _field("identity/snapshots", "mutate_result", False),
    Feature("pending-writes/empty-batch", _is_empty_batch, _no_empty_batches),
    Feature(
        "",
        _is_put,
        _put_once,
        False,
        frozenset({"upsert/put-replaces", "upsert/put-is-idempotent"}),
    ),
    Feature(
        "upsert/special-write-last-wins-mixed",
        _mixed,
        _unmixed,
        False,
        frozenset({"upsert/regular-write-first-wins"}),
    ),
    Feature(
        "pending-writes/complete",
        _is_writes,
        _distinct_channels,
        False,
        frozenset({"pending-writes/special-index"}),
    ),
    Feature(
        "pending-writes/complete",
        _has_none,
        _without_nones,
        False,
        frozenset({"pending-writes/special-index"}),
    ),
    Feature(
        "",
        _special,
        _special_apart,
        False,
        frozenset({"pending-writes/special-index"}),
    ),
    Feature("pending-writes/early-writes-kept", _is_writes, _early_on_time, False),
    Feature("pending-writes/late-writes", _is_writes, _writes_on_time, False),
    Feature("pending-writes/one-task-two-paths", _is_writes, _one_path, False),
    Feature("channels/copy-fork", _is_copy, _no_copies),
    _values_of("serialization/channel-values", Put, lambda group: group not in _PLAIN_GROUPS),
    _values_of("serialization/write-values", PutWrites, lambda group: group not in _PLAIN_GROUPS),
    _metadata_keys(
        "serialization/metadata", lambda key: key not in ("source", "step", "parents", "run_id")
    ),
)
"""In the order in which they are tried: what an author would name first comes first."""

NEVER_BEHIND_A_FEATURE = frozenset({"identity/inputs-untouched", "isolation/workspaces"})
"""Contracts whose breach says all: no feature of the program excuses it."""
