"""The themes of each family: which programs put its contracts to the test."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from saverproof.programs import asking, making
from saverproof.programs.names import (
    HOSTILE_FILTERS,
    HOSTILE_THREADS,
    NESTED_NAMESPACES,
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

PUTS: Mapping[Maker, int] = {making.put: 12, making.put_again: 1, making.put_replacing: 1}
WRITES: Mapping[Maker, int] = {making.writes: 8, making.writes_again: 5, making.writes_early: 2}
READS: Mapping[Maker, int] = {asking.get: 6, asking.list_: 4}
GENERAL = {**PUTS, **WRITES, **READS}


def _ordering() -> tuple[Theme, ...]:
    lists = {asking.list_: 10, asking.list_all: 2, asking.pages: 3, asking.get: 5}
    writes = {making.writes: 10, making.writes_again: 2, making.writes_special: 2}
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
    puts = {making.put: 4, making.put_again: 5, making.put_replacing: 5, making.writes: 3}
    writes = {making.put: 2, making.writes: 4, making.writes_again: 12, making.writes_special: 2}
    small = {"threads": ("a",), "namespaces": ("",)}
    return (
        Theme("puts", {**puts, asking.list_: 3, asking.get: 2}, metadata=({}, {"user": "ann"})),
        Theme("writes", {**writes, asking.get: 1}, tasks=(0, 1, 2), **small),
    )


def _pending_writes() -> tuple[Theme, ...]:
    writes = {making.writes: 8, making.writes_early: 4, making.writes_again: 4}
    odd = {making.writes_empty: 2, making.writes_special: 3, making.writes_to_root: 2}
    return (
        Theme(
            "batches",
            {making.put: 6, making.put_again: 1, **writes, **odd, **READS},
            tasks=(0, 1, 2),
        ),
    )


def _identity() -> tuple[Theme, ...]:
    forms = {asking.get_in_form: 6, asking.list_in_form: 4, asking.list_: 3, asking.list_all: 1}
    puts = {making.put: 6, asking.put_in_loop: 3, asking.put_and_change: 2}
    writes = {making.writes: 3, asking.writes_in_loop: 2, asking.writes_and_change: 2}
    roots = {asking.put_root_in_form: 1, asking.put_merging: 1}
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
    small = {"threads": ("a",), "namespaces": ("",), "length": 40}
    steps = {making.put: 8, making.writes: 6, asking.get: 2, asking.list_: 1}
    values = ("plain", "falsy", "scalar", "container", "object", "message")
    metadata = tuple({k: v} for k in METADATA_KEYS for v in METADATA_VALUES)
    return (
        Theme("values", steps, groups=values, **small),
        Theme("exceptions", steps, groups=("plain", "exception"), **small),
        Theme(
            "large values",
            {making.put: 2, making.writes: 1},
            groups=("large",),
            **small | {"length": 6},
        ),
        Theme("non-finite", steps, groups=("plain", "non-finite"), **small | {"length": 12}),
        Theme("nul", steps, groups=("plain", "nul"), **small | {"length": 12}),
        Theme("names", steps, channels=ODD_CHANNELS, nodes=ODD_NODES, paths=ODD_PATHS, **small),
        Theme("metadata", steps, metadata=metadata, **small),
        Theme("merged metadata", {asking.put_merging: 5, asking.get: 2, asking.list_: 1}, **small),
        Theme("older forms", {asking.put_older: 5, making.writes: 2, asking.get: 2}, **small),
        Theme(
            "legacy metadata",
            {asking.put_with_legacy_writes: 4, making.put: 1},
            **small | {"length": 8},
        ),
        Theme("refused values", {making.put: 3, making.writes: 2, asking.refuse: 5}, **small),
        Theme("bulk", script=_bulk, **small),
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
    puts = {making.put: 10, making.put_copy: 3, making.put_omitting: 2}
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
    whole = {**PUTS, **WRITES, **READS, asking.list_all: 2}
    forget = {asking.delete_thread: 1}
    return (
        Theme("threads", {**whole, **forget}, threads=("a", "b", "c"), whole_store=True),
        Theme("namespaces", whole, threads=("a",), namespaces=NESTED_NAMESPACES),
        Theme("hostile threads", {**whole, **forget}, threads=HOSTILE_THREADS, whole_store=True),
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
    lists = {asking.list_filtered: 8, asking.get: 1}
    plain = tuple(v for v in FILTER_VALUES if not isinstance(v, bool))
    some = tuple({key: value} for key in FILTER_KEYS[:2] for value in plain)
    cases = tuple({key: value} for key in FILTER_KEYS for value in ("a", "A", 1, ""))
    flags = tuple({"flag": flag} for flag in (True, False))
    dotted = ({"a.b": 1}, {"a": {"b": 1}}, {"a.b": "x", "a": 1}, {})
    near = (0, 1, -1, 10, 2**31, 2**31 + 1, 2**53, 2**53 + 1, 0.5, 0.3, 0.1 + 0.2)
    numbers = tuple({"score": number} for number in near)
    nested = ({"info": {"k": 1}}, {"info": {"k": 1, "m": 2}}, {"info": [1, 2]}, {"info": []}, {})
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
    steps = {**PUTS, **WRITES, asking.list_: 2}
    runs = ("run-1", "run-2", "run-3")
    delta = {asking.put_delta: 8, making.writes: 6, asking.prune_to_latest: 1, making.put: 1}
    channels = ("log", "count")
    return (
        Theme("threads", {**steps, asking.delete_thread: 3}, whole_store=True),
        Theme(
            "runs",
            {**steps, asking.delete_runs: 2},
            runs=runs,
            needs=frozenset({"delete_for_runs"}),
            whole_store=True,
        ),
        Theme(
            "copies",
            {**steps, asking.copy_thread: 3, asking.delete_thread: 1},
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
    steps = {asking.put_delta: 8, making.put: 2, making.writes: 8, making.writes_again: 1}
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
    forms = {asking.get_in_form: 2, asking.list_in_form: 1, asking.list_filtered: 1}
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
    life = {asking.set_up: 1, asking.close_again: 1, asking.abandon: 2}
    first = ("put", "put_writes", "get_tuple", "list", "delete_thread")
    later = ("delete_for_runs", "copy_thread", "prune")
    length = {"length": 40, "whole_store": True}
    return (
        Theme("abandoned", {**PUTS, **WRITES, asking.abandon: 4}, whole_store=True),
        Theme("clones", {**GENERAL, asking.clone: 3}, needs=frozenset({"serializer"}), **length),
        Theme(
            "restarts",
            {**GENERAL, **life, asking.reopen: 2},
            needs=frozenset({"durable"}),
            **length,
        ),
        Theme(
            "first operations",
            script=lambda _: tuple(
                FirstOperation(name, set_up) for name in first for set_up in (True, False)
            ),
        ),
        *(
            Theme(
                f"first {name}",
                script=lambda _, name=name: tuple(FirstOperation(name, s) for s in (True, False)),
                needs=frozenset({name}),
            )
            for name in later
        ),
    )


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
