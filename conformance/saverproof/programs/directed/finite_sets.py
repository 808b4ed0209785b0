"""Short programs that try each member of a finite set, so that chance leaves none out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.names import (
    HOSTILE,
    HOSTILE_FILTERS,
    HOSTILE_NAMESPACES,
    JOINING,
    NESTED,
    ODD_CHANNELS,
    ODD_NODES,
    ODD_PATHS,
)
from saverproof.programs.small import NEW, OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
    VersionsBy,
)
from saverproof.programs.steps.identifiers import EXIT_TASK, LATE_TASK
from saverproof.programs.theme import NameSet
from saverproof.programs.values import Value


def _stored(names: NameSet) -> Iterator[Step]:
    """Yield a checkpoint with a task's writes for every namespace of every thread."""
    places = [(thread, namespace) for thread in names.threads for namespace in names.namespaces]
    for number, (thread, namespace) in enumerate(places, start=1):
        yield checkpoint(thread, number, namespace=namespace)
        yield batch(thread, number, 1, 2, seed=number, namespace=namespace)


def _read(names: NameSet) -> Iterator[Step]:
    """Yield every kind of read that names no checkpoint, for every thread and namespace."""
    for thread in names.threads:
        yield ListTuples(thread)
        for namespace in names.namespaces:
            yield GetTuple(thread, namespace)
            yield ListTuples(thread, namespace)


def _told_apart(names: NameSet) -> Iterator[Program]:
    """Yield a program for each thread: it stores and reads under all names, and then deletes that
    thread.
    """
    for thread in names.threads:
        yield (*_stored(names), *_read(names), DeleteThread(thread), *_read(names))


HOSTILE_THREADS: tuple[Program, ...] = tuple(
    program for names in HOSTILE for program in _told_apart(names)
)
"""Each hostile thread id next to those that a saver may take for it; each is deleted in turn."""


def _joined() -> Iterator[Step]:
    """Yield checkpoints in two places for each sign: a saver that joins thread and namespace with
    that sign gives both places the same key.
    """
    places = [(f"a{sign}x", "y") for sign in JOINING] + [("a", f"x{sign}y") for sign in JOINING]
    for number, (thread, namespace) in enumerate(places, start=1):
        yield checkpoint(thread, number, namespace=namespace)
    for thread, namespace in places:
        yield GetTuple(thread, namespace)
        yield ListTuples(thread, namespace)


JOINED: tuple[Program, ...] = (tuple(_joined()),)
"""Threads and namespaces that give the same key if a saver joins them with one of many signs."""

_Place: TypeAlias = tuple[str, str]
"""A thread and a namespace."""


def _changed_in_turn(one: _Place, other: _Place) -> Program:
    """Return a program in which both places have a checkpoint of one id, and each is written to,
    and put again, by itself.
    """
    places = (one, other)
    return (
        *(checkpoint(of, 1, namespace=ns, seed=n) for n, (of, ns) in enumerate(places, 5)),
        *(
            batch(of, 1, n, 2, ("__resume__", n), namespace=ns)
            for n, (of, ns) in enumerate(places, 1)
        ),
        batch(one[0], 1, 1, 0, ("__resume__", 3), namespace=one[1]),
        checkpoint(one[0], 1, namespace=one[1], seed=7, noted="put again"),
        *_asked(places),
    )


def _written_early(one: _Place, other: _Place) -> Program:
    """Return a program that writes to a checkpoint before it is put, while another place has a
    checkpoint of the same id.
    """
    (thread, namespace), (early, inside) = one, other
    return (
        checkpoint(thread, 1, namespace=namespace),
        batch(early, 1, 2, 2, namespace=inside),
        checkpoint(early, 1, namespace=inside, seed=5),
        *_asked((one, other)),
    )


def _asked(places: tuple[_Place, ...]) -> Iterator[Step]:
    for thread, namespace in places:
        yield GetTuple(thread, namespace, 1)
        yield ListTuples(thread, namespace)


SAME_IDS: tuple[Program, ...] = (
    (
        checkpoint(THREAD, 1),
        batch(THREAD, 1, 1, 2),
        checkpoint(THREAD, 1, namespace="child", seed=5),
        batch(THREAD, 1, 1, 2, seed=5, namespace="child"),
        GetTuple(THREAD, "", 1),
        GetTuple(THREAD, "child", 1),
        ListTuples(THREAD, "child"),
        ListTuples(THREAD),
    ),
    (checkpoint(THREAD, 1), GetTuple(THREAD, "child", 1), ListTuples(THREAD, "child", 1)),
    *(
        make(*places)
        for root, elsewhere in (
            ((THREAD, ""), (THREAD, "child")),
            ((THREAD, ""), (OTHER, "")),
            ((THREAD, "child"), (OTHER, "child")),
        )
        for make in (_changed_in_turn, _written_early)
        for places in ((root, elsewhere), (elsewhere, root))
    ),
)
"""One id in two namespaces, or in two threads: what each operation does to the one changes nothing
in the other. And reads of an id in a namespace that lacks it.
"""

NAMESPACES: tuple[Program, ...] = tuple(
    program for names in NESTED for program in _told_apart(names)
)
"""Each namespace of a form that LangGraph makes, next to those that a saver may take for it."""

ODD_NAMESPACES: tuple[Program, ...] = tuple(
    program for names in HOSTILE_NAMESPACES for program in _told_apart(names)
)
"""Namespaces of nodes with odd names, next to those that a saver may take for them."""

TIES: tuple[Program, ...] = (
    (
        *(PutHistory(thread, "", 1, count) for thread, count in (("a", 11), ("b", 12), ("c", 12))),
        ListTuples(None),
        ListTuples(None, limit=10),
    ),
)
"""Ids that occur in several threads, as after a copy, at the ends of pages."""

_MANY = range(1, 106)
"""Numbers for names, a few more than a page of a hundred."""
MANY: tuple[Program, ...] = (
    (*(checkpoint(f"thread {number}", number) for number in _MANY), ListTuples(None)),
    (
        *(checkpoint(THREAD, number, namespace=f"node{number}") for number in _MANY),
        ListTuples(THREAD),
    ),
)
"""More threads, and more namespaces, than a page of results holds."""

FILTERS: tuple[Program, ...] = tuple(
    (
        checkpoint(THREAD, 1),
        checkpoint(THREAD, 2, 1),
        ListTuples(THREAD, filter=filters),
        ListTuples(None, filter=filters),
        ListTuples(THREAD),
    )
    for filters in ({"source": "loop"}, *HOSTILE_FILTERS)
)
"""Each hostile filter key, and a plain one. None may give more checkpoints or change the store."""


def _channels() -> Program:
    changes = tuple((name, Value("integer", n)) for n, name in enumerate(ODD_CHANNELS))
    again = tuple((name, Value("integer", 100 + n)) for n, name in enumerate(ODD_CHANNELS[::2]))
    first = replace(checkpoint(THREAD, 1), changes=changes)
    writes = tuple((name, Value("integer", 200 + n)) for n, name in enumerate(ODD_CHANNELS))
    return (
        first,
        PutWrites(THREAD, "", 1, 1, writes),
        replace(checkpoint(THREAD, 2, 1), changes=again),
        GetTuple(THREAD, "", 1),
        GetTuple(THREAD),
        ListTuples(THREAD),
    )


def _nodes_and_paths() -> Program:
    puts: list[Put] = [
        replace(checkpoint(THREAD, number, number - 1 or None), node=node)
        for number, node in enumerate(ODD_NODES, start=1)
    ]
    writes = [
        PutWrites(THREAD, "", len(puts), task, (("count", Value("integer", task)),), path)
        for task, path in enumerate(ODD_PATHS)
    ]
    return (*puts, *writes, GetTuple(THREAD), ListTuples(THREAD))


NAMES: tuple[Program, ...] = (_channels(), _nodes_and_paths())
"""Every odd name of a channel, a node and a task's path."""


TASKS: tuple[Program, ...] = (
    (
        checkpoint(THREAD, 1),
        *(batch(THREAD, 1, task, 2) for task in (1, 2, 17, 18)),
        GetTuple(THREAD, "", 1),
        ListTuples(THREAD),
    ),
    (checkpoint(THREAD, 1), *(batch(THREAD, 1, task, 12) for task in range(1, 10))),
)
"""Tasks whose ids share all but the end, and tasks whose ids share the end.

One checkpoint also has more writes than a page of a hundred.
"""

_EXIT_STEPS = (
    (LATE_TASK + 2, "~~0000000002~__pregel_pull, agent"),
    (LATE_TASK + 1, "~~0000000001~__pregel_pull, tools"),
    (EXIT_TASK, "~__pregel_pull, __start__"),
    (EXIT_TASK + 16, ""),
    (EXIT_TASK + 12, "~__pregel_pull, agent"),
)
"""Tasks of a run that is saved only at its end, each with its path, in no particular order."""


def _saved_at_exit() -> Program:
    """Return what LangGraph sends with durability "exit" for a graph with a delta channel: a root
    without values, to which the writes of all steps belong, and the last checkpoint.
    """
    counted = {"counters_since_delta_snapshot": {"log": [3, 3]}}
    metadata = {"source": "loop", "step": 2, "parents": {}, **counted}
    writes = (("log", Value("integer", 1)), ("log", Value("integer", 2)))
    return (
        Put(THREAD, "", 1, metadata={"step": -2}),
        *(PutWrites(THREAD, "", 1, task, writes, path) for task, path in _EXIT_STEPS),
        PutWrites(THREAD, "", 1, 0, (("log", Value("integer", 3)),)),
        Put(THREAD, "", 2, 1, (("log", None), ("count", Value("integer", 1))), metadata=metadata),
        GetTuple(THREAD, "", 1),
        ListTuples(THREAD),
        DeltaHistory(THREAD, "", 2, ("log",)),
    )


SAVED_AT_EXIT: tuple[Program, ...] = (_saved_at_exit(),)
"""The ids and paths of tasks of a run that is saved only at its end."""

BESIDE_A_HISTORY: tuple[Program, ...] = (
    (
        checkpoint(THREAD, 1),
        batch(THREAD, 1, 1, 2),
        PutHistory(THREAD, "", 2, 104),
        ListTuples(THREAD),
        ListTuples(None),
    ),
)
"""Writes on the oldest checkpoint of a history that is longer than a page."""

_OF_ANN = {"source": "loop", "step": 1, "user": "ann"}
FITS_BEHIND_A_HISTORY: tuple[Program, ...] = (
    (
        replace(checkpoint(THREAD, 1), metadata=_OF_ANN),
        PutHistory(THREAD, "", 2, 104),
        ListTuples(THREAD, "", filter={"user": "ann"}),
        ListTuples(THREAD, "", filter={"user": "ann"}, limit=1),
        ListTuples(None, filter={"user": "ann"}),
    ),
)
"""A filter that nothing fits but the oldest checkpoint of a history that is longer than a page."""

_LONG_PATH = "~__pregel_push, ~__pregel_push, ~__pregel_pull, agent, 0000000001, {:010}"
LONG_PATHS: tuple[Program, ...] = (
    (
        checkpoint(THREAD, 1),
        *(
            replace(batch(THREAD, 1, task, 1), path=_LONG_PATH.format(number))
            for task, number in ((1, 2), (2, 1), (3, 3))
        ),
        ListTuples(THREAD),
    ),
)
"""Tasks pushed by tasks: long paths that differ at the end, which decides the order of writes."""

_OWN_CHANNELS = (
    *(("__pregel_tasks", Value("send", 1)), ("__no_writes__", Value("none", 0))),
    *(("__return__", Value("list", 1)), ("__previous__", Value("dict", 0))),
    *(("__end__", Value("integer", 1)), ("__start__", Value("dict", 1))),
    *(("__root__", Value("text", 1)), ("branch:to:agent", Value("none", 0))),
    ("__pregel_tasks", Value("send", 3)),
)
OWN_CHANNELS: tuple[Program, ...] = (
    (checkpoint(THREAD, 1), PutWrites(THREAD, "", 1, 1, _OWN_CHANNELS), ListTuples(THREAD)),
    (
        checkpoint(THREAD, 1),
        PutWrites(THREAD, "", 1, 1, (("count", Value("integer", 1)),) * 3),
        PutWrites(THREAD, "", 1, 2, (("count", Value("none", 0)),) * 2),
        ListTuples(THREAD),
    ),
)
"""Writes to LangGraph's own channels that are not special writes, and batches of equal writes."""


def _twice(channel: str) -> Program:
    """Return a program that writes a list to a special channel, as the loop does, and then another
    list.
    """
    first, second = ((channel, Value("list", seed)) for seed in (3, 6))
    return (
        checkpoint(THREAD, 1),
        *(PutWrites(THREAD, "", 1, 1, (one,)) for one in (first, second)),
        ListTuples(THREAD),
    )


SPECIAL_LISTS: tuple[Program, ...] = tuple(map(_twice, SPECIAL_INDEX))
"""For each special channel, a list, and a second list that must replace the first."""


def versions_by_server(*steps: Step) -> Program:
    """Return the program with all channel versions made by the Agent Server."""
    return tuple(
        replace(step, versions=VersionsBy.AGENT_SERVER) if isinstance(step, Put) else step
        for step in steps
    )


def _forked(namespace: str) -> Program:
    """Return a history in which a channel stays as it is, and a fork of its first checkpoint."""
    return (
        checkpoint(THREAD, 1, namespace=namespace),
        replace(checkpoint(THREAD, 2, 1, namespace), changes=(("count", Value("integer", 2)),)),
        batch(THREAD, 2, 1, 2, namespace=namespace),
        checkpoint(THREAD, 3, 1, namespace),
        *(GetTuple(THREAD, namespace, number) for number in (1, 2, 3)),
        GetTuple(THREAD, namespace),
        ListTuples(THREAD, namespace),
    )


_ELEVEN = tuple(
    replace(checkpoint(THREAD, number, number - 1 or None), changes=(("count", value),))
    for number in range(1, 12)
    for value in (Value("integer", number),)
)
"""More versions than have one digit."""
VERSIONS_OF_CALLERS: tuple[Program, ...] = tuple(
    versions_by_server(*steps)
    for steps in (
        _forked(""),
        _forked("child"),
        (*_ELEVEN, ListTuples(THREAD)),
        (checkpoint(THREAD, 1), checkpoint(THREAD, 1, seed=5), ListTuples(THREAD)),
        (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1), CopyThread(THREAD, NEW), GetTuple(NEW)),
        (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1), Prune((THREAD,), "keep_latest")),
    )
)
"""Channel versions as LangGraph's Agent Server makes them, by itself and as text."""
