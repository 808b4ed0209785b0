"""The themes of each family: which programs put its contracts to the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

from saverproof.programs import asking, making
from saverproof.programs.names import (
    HOSTILE,
    HOSTILE_FILTERS,
    NESTED,
    ODD_CHANNELS,
    ODD_NODES,
    ODD_PATHS,
)
from saverproof.programs.steps import (
    Bulk,
    CallOnLoop,
    CheckFiles,
    Elsewhere,
    FirstOperation,
    NextVersions,
    Step,
)
from saverproof.programs.theme import Maker, Theme
from saverproof.values.metadata import FILTER_KEYS, FILTER_VALUES, METADATA_KEYS, METADATA_VALUES

Weights: TypeAlias = Mapping[Maker, int]

PUTS: Weights = {making.put: 12, making.put_again: 1, making.put_replacing: 1}
WRITES: Weights = {making.writes: 8, making.writes_again: 5, making.writes_early: 2}
READS: Weights = {asking.get: 6, asking.list_: 4}
GENERAL: Weights = {**PUTS, **WRITES, **READS}
SMALL = Theme("small", threads=("a",), namespaces=("",), length=40)


def _ordering() -> tuple[Theme, ...]:
    lists: Weights = {asking.list_: 10, asking.list_all: 2, asking.pages: 3, asking.get: 5}
    writes: Weights = {making.writes: 10, making.writes_again: 2, making.writes_special: 2}
    many = tuple(range(7))
    return (
        Theme("histories", {**PUTS, **lists}, whole_store=True),
        Theme(
            "tasks",
            {making.put: 1, **writes, asking.get: 2},
            threads=("a",),
            namespaces=("",),
            tasks=many,
            paths=("", "~p, 1", "~p, 10", "~p, 2", "~p, B", "~p, a", "~q, é"),
        ),
    )


def _upsert() -> tuple[Theme, ...]:
    puts: Weights = {making.put: 4, making.put_again: 5, making.put_replacing: 5, making.writes: 3}
    writes: Weights = {
        making.put: 2,
        making.writes: 4,
        making.writes_again: 12,
        making.writes_special: 2,
    }
    return (
        Theme("puts", {**puts, asking.list_: 3, asking.get: 2}, metadata=({}, {"user": "ann"})),
        replace(
            SMALL, name="writes", weights={**writes, asking.get: 1}, tasks=(0, 1, 2), length=60
        ),
    )


def _pending_writes() -> tuple[Theme, ...]:
    writes: Weights = {making.writes: 8, making.writes_early: 4, making.writes_again: 4}
    odd: Weights = {making.writes_empty: 2, making.writes_special: 5, making.writes_to_root: 2}
    return (
        Theme(
            "batches",
            {making.put: 6, making.put_again: 1, **writes, **odd, **READS},
            tasks=(0, 1, 2),
        ),
    )


def _identity() -> tuple[Theme, ...]:
    forms: Weights = {
        asking.get_in_form: 6,
        asking.list_in_form: 4,
        asking.list_: 3,
        asking.list_all: 1,
    }
    puts: Weights = {making.put: 6, asking.put_in_loop: 3, asking.put_and_change: 2}
    writes: Weights = {making.writes: 3, asking.writes_in_loop: 2, asking.writes_and_change: 2}
    roots: Weights = {asking.put_root_in_form: 1, asking.put_merging: 1}
    groups = ("plain", "container")
    return (
        Theme(
            "configs",
            {**puts, **writes, **forms, **roots, asking.get: 4},
            groups=groups,
            watch_inputs=True,
            missing_parents=True,
            whole_store=True,
        ),
    )


def _serialization() -> tuple[Theme, ...]:
    steps: Weights = {making.put: 8, making.writes: 6, asking.get: 2, asking.list_: 1}
    values = ("plain", "falsy", "scalar", "container", "object", "message")
    metadata = tuple({k: v} for k in METADATA_KEYS for v in METADATA_VALUES)
    return (
        replace(SMALL, name="values", weights=steps, groups=values),
        replace(SMALL, name="exceptions", weights=steps, groups=("plain", "exception")),
        replace(
            SMALL,
            name="large values",
            weights={making.put: 2, making.writes: 1},
            groups=("large",),
            length=6,
        ),
        replace(SMALL, name="non-finite", weights=steps, groups=("plain", "non-finite"), length=12),
        replace(SMALL, name="nul", weights=steps, groups=("plain", "nul"), length=12),
        replace(
            SMALL,
            name="names",
            weights=steps,
            channels=ODD_CHANNELS,
            nodes=ODD_NODES,
            paths=ODD_PATHS,
        ),
        replace(SMALL, name="metadata", weights=steps, metadata=metadata),
        replace(
            SMALL,
            name="merged metadata",
            weights={asking.put_merging: 5, asking.get: 2, asking.list_: 1},
        ),
        replace(
            SMALL,
            name="older forms",
            weights={asking.put_older: 5, making.writes: 2, asking.get: 2},
        ),
        replace(
            SMALL,
            name="legacy metadata",
            weights={asking.put_with_legacy_writes: 4, making.put: 1},
            length=8,
        ),
        replace(
            SMALL,
            name="refused values",
            weights={making.put: 3, making.writes: 2, asking.refuse: 5},
        ),
        replace(SMALL, name="bulk", script=_bulk),
        Theme(
            "encryption",
            script=lambda _: (CheckFiles("encrypted"),),
            needs=frozenset({"serializer"}),
        ),
    )


def _bulk(choose: Random) -> tuple[Step, ...]:
    del choose
    return (
        Bulk("writes", "a", 1, 20_000),
        Bulk("channels", "b", 1, 1_000),
        Bulk("checkpoints", "c", 1, 5_000),
    )


def _channels() -> tuple[Theme, ...]:
    puts: Weights = {making.put: 10, making.put_copy: 3, making.put_omitting: 2}
    return (
        Theme("forks", {**puts, **READS}, threads=("a",)),
        Theme(
            "forks after restarts",
            {**puts, asking.reopen: 2},
            threads=("a",),
            needs=frozenset({"durable"}),
            length=20,
            whole_store=True,
        ),
        Theme("versions", script=lambda choose: (NextVersions(choose.randint(101, 140)),)),
    )


def _isolation() -> tuple[Theme, ...]:
    whole: Weights = {**GENERAL, asking.list_all: 2, asking.list_in_form: 1}
    brief: Weights = {**PUTS, making.writes: 4, asking.get: 3, asking.list_: 6, asking.list_all: 1}
    forget: Weights = {asking.delete_thread: 1}
    return (
        Theme("threads", {**whole, **forget}, threads=("a", "b", "c"), whole_store=True),
        Theme("namespaces", whole, casts=NESTED),
        Theme(
            "hostile threads",
            {**brief, asking.delete_thread: 2},
            casts=HOSTILE,
            length=30,
            whole_store=True,
        ),
        Theme("hostile filters", {**PUTS, asking.list_filtered: 6}, filters=HOSTILE_FILTERS),
        Theme("workspaces", {**PUTS, asking.elsewhere: 4}, length=12, whole_store=True),
        Theme(
            "files",
            script=lambda choose: (
                Elsewhere("a", choose.randint(1, 3)),
                CheckFiles("private"),
            ),
        ),
    )


def _filter() -> tuple[Theme, ...]:
    lists: Weights = {asking.list_filtered: 8, asking.get: 1}
    plain = tuple(v for v in FILTER_VALUES if not isinstance(v, bool))
    some = tuple({key: value} for key in FILTER_KEYS[:2] for value in plain)
    cases = tuple({key: value} for key in FILTER_KEYS for value in ("a", "A", 1, ""))
    flags = tuple({"flag": flag} for flag in (True, False))
    dotted: tuple[Mapping[str, Any], ...] = ({"a.b": 1}, {"a": {"b": 1}}, {"a.b": "x", "a": 1}, {})
    near = (0, 1, -1, 10, 2**31, 2**31 + 1, 2**53, 2**53 + 1, 0.5, 0.3, 0.1 + 0.2)
    numbers = tuple({"score": number} for number in near)
    nested: tuple[Mapping[str, Any], ...] = (
        {"info": {"k": 1}},
        {"info": {"k": 1, "m": 2}},
        {"info": [1, 2]},
        {"info": []},
        {},
    )
    return (
        Theme("values", {**PUTS, **lists}, metadata=some, filters=some),
        Theme("keys", {**PUTS, **lists}, metadata=cases, filters=cases),
        Theme("numbers", {**PUTS, **lists}, metadata=numbers, filters=numbers),
        Theme("booleans", {**PUTS, **lists}, metadata=(*flags, {}), filters=flags),
        Theme(
            "several keys",
            {**PUTS, **lists},
            metadata=tuple({"kind": k, "rank": n} for k in ("x", "y") for n in (1, 2)),
            filters=tuple({"kind": k, "rank": n} for k in ("x", "y") for n in (1, 2, 3)),
        ),
        Theme(
            "none",
            {**PUTS, **lists},
            metadata=({"user": None}, {"user": "ann"}, {}),
            filters=({"user": None},),
        ),
        Theme("nested", {**PUTS, **lists}, metadata=nested, filters=nested[:-1]),
        Theme("dotted", {**PUTS, **lists}, metadata=dotted, filters=({"a.b": 1}, {"a.b": "x"})),
    )


def _deletion() -> tuple[Theme, ...]:
    steps: Weights = {**PUTS, **WRITES, asking.list_: 2}
    runs = ("run-1", "run-2", "run-10")
    threads = ("a", "a1", "b")
    delta: Weights = {
        asking.put_delta: 8,
        making.writes: 6,
        asking.prune_to_latest: 1,
        making.put: 1,
    }
    channels = ("log", "count")
    return (
        Theme("threads", {**steps, asking.delete_thread: 3}, threads=threads, whole_store=True),
        Theme(
            "runs",
            {**steps, asking.delete_runs: 2},
            runs=runs,
            needs=frozenset({"delete_for_runs"}),
            whole_store=True,
        ),
        Theme(
            "copies",
            {**steps, making.writes_early: 5, asking.copy_thread: 5, asking.delete_thread: 3},
            threads=("a", "b", "c"),
            needs=frozenset({"copy_thread"}),
            whole_store=True,
        ),
        Theme(
            "pruning",
            {**steps, asking.prune: 2},
            needs=frozenset({"prune"}),
            whole_store=True,
        ),
        Theme(
            "pruning deltas",
            delta,
            threads=("a",),
            namespaces=("",),
            channels=channels,
            needs=frozenset({"prune", "delta_history"}),
            whole_store=True,
        ),
    )


def _delta_history() -> tuple[Theme, ...]:
    steps: Weights = {asking.put_delta: 8, making.put: 2, making.writes: 8, making.writes_again: 1}
    return (
        Theme(
            "deltas",
            {**steps, asking.delta_history: 6},
            channels=("log", "count", "notes"),
            tasks=tuple(range(5)),
            paths=("", "~p, 1", "~p, 10", "~p, 2"),
            needs=frozenset({"delta_history"}),
        ),
    )


def _parity() -> tuple[Theme, ...]:
    forms: Weights = {asking.get_in_form: 2, asking.list_in_form: 1, asking.list_filtered: 1}
    calls = ("get_tuple", "list", "delete_thread", "put", "put_writes")
    return (
        Theme(
            "crossed",
            {**GENERAL, **forms, asking.delete_thread: 1},
            groups=("plain", "falsy", "scalar", "container"),
            whole_store=True,
        ),
        Theme("deltas", {**_delta_history()[0].weights}, needs=frozenset({"delta_history"})),
        Theme("on the loop", script=lambda _: tuple(CallOnLoop(name, "a", 1) for name in calls)),
    )


def _lifecycle() -> tuple[Theme, ...]:
    life: Weights = {asking.set_up: 1, asking.close_again: 2, asking.abandon: 2}
    first = ("put", "put_writes", "get_tuple", "list")
    later = ("delete_thread", "delete_for_runs", "copy_thread", "prune")
    return (
        Theme("abandoned", {**GENERAL, asking.abandon: 4}, whole_store=True),
        Theme(
            "clones",
            {**GENERAL, asking.clone: 3},
            needs=frozenset({"serializer"}),
            length=40,
            whole_store=True,
        ),
        Theme(
            "restarts",
            {**GENERAL, **life, asking.reopen: 2},
            needs=frozenset({"durable"}),
            length=40,
            whole_store=True,
        ),
        Theme(
            "first operations",
            script=_first(*first),
        ),
        *(
            Theme(
                f"first {name}",
                script=_first(name),
                needs=frozenset({name}),
            )
            for name in later
        ),
    )


def _first(*operations: str) -> Callable[[Random], tuple[Step, ...]]:
    """A scene: each operation is the first on a new store, set up and not."""

    def scene(choose: Random) -> tuple[Step, ...]:
        del choose
        return tuple(
            FirstOperation(name, set_up) for name in operations for set_up in (True, False)
        )

    return scene


def _interface() -> tuple[Theme, ...]:
    return (Theme("operations", {**GENERAL}, length=30),)


_FAMILIES = {
    "interface": _interface,
    "ordering": _ordering,
    "upsert": _upsert,
    "pending-writes": _pending_writes,
    "identity": _identity,
    "serialization": _serialization,
    "channels": _channels,
    "isolation": _isolation,
    "filter": _filter,
    "deletion": _deletion,
    "delta-history": _delta_history,
    "parity": _parity,
    "lifecycle": _lifecycle,
}

FUNCTIONAL_FAMILIES = tuple(_FAMILIES)


def themes(family: str) -> tuple[Theme, ...]:
    """The themes of a functional family.

    Raises:
        KeyError: the family is none that programs alone put to the test.
    """
    return _FAMILIES[family]()
