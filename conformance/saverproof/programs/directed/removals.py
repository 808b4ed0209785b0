"""Short programs that remove or copy, and look at what must stay or must not come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from saverproof.programs.small import NEW, OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    Extras,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value

_MANY = 105
"""A number of names that is more than a page of a hundred."""
_ALIKE = ("a", "a_", "a*", "a%", "A", "ab", "a ")
"""A name that is the beginning of others, then patterns, then names that match them."""
_RUNS = ("run", "run_1", "run%", "run*", "run-1", "RUN-1", "run-10")


def _two(thread: str, seed: int = 0) -> Iterator[Step]:
    yield checkpoint(thread, 1, seed=seed + 1)
    yield batch(thread, 1, 1, 2, seed=seed)
    yield checkpoint(thread, 2, 1, seed=seed + 2)
    yield batch(thread, 2, 1, 2, seed=seed + 5)


def _reads(*threads: str) -> Iterator[Step]:
    for thread in threads:
        yield GetTuple(thread)
        yield ListTuples(thread)


def _beside_others(step: Step) -> Program:
    """Return a program that reads, takes this step, and reads again: answers may not be
    outdated.
    """
    asked = tuple(_reads(THREAD, OTHER, NEW))
    return (*_two(THREAD), *_two(OTHER, 50), *asked, step, *asked)


def _beside_a_longer_name(step: Step) -> Program:
    return (*_two(THREAD), *_two(THREAD + OTHER, 50), step)


def _put_again(step: Step) -> Program:
    """Return a program that removes, and then puts the same ids again, with other values and with
    none.
    """
    empty = replace(checkpoint(THREAD, 3), changes=(("count", None), ("messages", None)))
    return (*_two(THREAD), step, *_two(THREAD, 70), step, empty, *_reads(THREAD))


def _copied_later(step: Step) -> Program:
    """Return a program that removes, puts something else, and copies: only what was put later may
    be copied.
    """
    return (*_two(THREAD), step, checkpoint(THREAD, 3), CopyThread(THREAD, NEW), *_reads(NEW))


def _newest_removed() -> Program:
    newest = checkpoint(THREAD, 3, 1, run="run-2")
    puts = (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1), newest)
    removed = (DeleteForRuns(("run-2",)), *_reads(THREAD))
    return (*puts, *removed, newest, *_reads(THREAD), *removed)


NEWEST_REMOVED: tuple[Program, ...] = (_newest_removed(),)
"""The newest checkpoint, which is not the child of the one before, is removed and put again."""


def _deleted_in_turn(puts: Iterable[Step]) -> Program:
    return (*puts, *(DeleteForRuns((run,)) for run in _RUNS))


_PUTS = [checkpoint(THREAD, number, run=run) for number, run in enumerate(_RUNS, 1)]
RUNS: tuple[Program, ...] = (
    _deleted_in_turn(_PUTS),
    _deleted_in_turn(
        replace(put, metadata={"step": put.number}, extras=Extras(metadata={"run_id": run}))
        for put, run in zip(_PUTS, _RUNS, strict=True)
    ),
)
"""Runs that a saver may take for one another, each deleted while the others stay.

LangGraph's loop may leave the run id to the config, whose metadata joins the checkpoint's.
"""

_NO_RUN = ("None", "null", "")
"""What a saver may store where the metadata names no run."""


def _of_no_run(run: str) -> Program:
    """Return a program that deletes a run of which no checkpoint is stored. One of the checkpoints
    names no run at all.
    """
    runless = replace(checkpoint(THREAD, 1), metadata={"step": 1})
    return (runless, checkpoint(THREAD, 2, 1), DeleteForRuns((run,)), *_reads(THREAD))


RUNLESS: tuple[Program, ...] = tuple(map(_of_no_run, _NO_RUN))
"""Deletions of runs whose ids read like none, beside a checkpoint that was put without a run."""

_ALL_OF = Prune((THREAD,), "delete")

REMOVALS: tuple[Program, ...] = (
    *map(_beside_others, (DeleteThread(THREAD), DeleteForRuns(("run-1",)), DeleteForRuns(()))),
    *map(_beside_others, (Prune((THREAD,), "keep_latest"), _ALL_OF, CopyThread(THREAD, NEW))),
    *map(_beside_others, (Prune((THREAD, OTHER), "keep_latest"), Prune((THREAD, OTHER), "delete"))),
    *map(_beside_others, (Prune((THREAD,), ""), Prune((THREAD, OTHER), ""))),
    *map(_beside_a_longer_name, (DeleteThread(THREAD), _ALL_OF, CopyThread(THREAD, NEW))),
    *map(_put_again, (DeleteThread(THREAD), DeleteForRuns(("run-1",)), _ALL_OF)),
    _put_again(Prune((THREAD,), "keep_latest")),
    *map(_copied_later, (DeleteThread(THREAD), DeleteForRuns(("run-1",)), _ALL_OF)),
    (PutHistory(THREAD, "", 1, _MANY), DeleteForRuns(("run-2",)), ListTuples(THREAD)),
    (*_PUTS, DeleteForRuns(_RUNS[1:-1]), ListTuples(THREAD)),
    (*_PUTS, GetTuple(THREAD), DeleteForRuns(_RUNS[-1:]), GetTuple(THREAD)),
    *RUNS,
    *RUNLESS,
)
"""Each way to remove or copy, with reads before and puts after."""

_EARLY = (checkpoint(THREAD, 1), batch(THREAD, 2, 1, 2))
EARLY_DELETED: Program = (
    *(*_EARLY, DeleteThread(THREAD), checkpoint(THREAD, 2), *_reads(THREAD)),
    *(batch(OTHER, 1, 1, 2), DeleteThread(OTHER), checkpoint(OTHER, 1), *_reads(OTHER)),
)
"""Writes come before their checkpoint, which is put only after the thread was deleted. One thread
has another checkpoint, one has none.
"""
EARLY_COPIED: Program = (*_EARLY, CopyThread(THREAD, NEW), checkpoint(NEW, 2, 1), *_reads(NEW))
"""Writes come before their checkpoint, and the thread is copied before the checkpoint is put: the
copy must have the early writes, as its source does.
"""


def _copied_paths(*paths: str) -> Program:
    """Return a program that copies writes of tasks on these paths."""
    writes = (
        PutWrites(THREAD, "", 1, task, (("count", Value("integer", task)),), path)
        for task, path in enumerate(paths, 1)
    )
    return (checkpoint(THREAD, 1), *writes, CopyThread(THREAD, NEW), *_reads(NEW))


_PATHS = ("~__pregel_pull, agent", "~__pregel_pull, tool")
COPIED_PATHS: tuple[Program, ...] = (_copied_paths(*_PATHS), _copied_paths(*reversed(_PATHS)))
"""Writes whose order follows from their paths, and writes whose order does not follow from their
task ids.
"""

_PLACES = range(1, _MANY + 1)


def _many_threads() -> Program:
    """Return a program that prunes many threads, of which only the last has something to prune."""
    threads = tuple(f"thread {number}" for number in _PLACES)
    puts = (checkpoint(thread, number) for number, thread in enumerate(threads, 1))
    newest = checkpoint(threads[-1], _MANY + 1, _MANY)
    return (*puts, newest, Prune(threads, "keep_latest"))


def _many_namespaces() -> Program:
    """Return a program on many namespaces, of which only the last has something to prune, or
    something of another run.
    """
    puts = (checkpoint(THREAD, number, namespace=f"node{number}") for number in _PLACES)
    newest = checkpoint(THREAD, _MANY + 1, _MANY, f"node{_MANY}", run="run-2", started_by=_MANY + 1)
    copied = (CopyThread(THREAD, NEW), Prune((NEW,), "keep_latest"))
    return (*puts, newest, *copied, DeleteForRuns(("run-2",)), DeleteThread(THREAD))


def _many_writes() -> Program:
    """Return a program that deletes a checkpoint with many writes, and puts it again without
    them.
    """
    put = checkpoint(THREAD, 1)
    writes = (batch(THREAD, 1, task, 12) for task in range(1, 10))
    deleted = (DeleteThread(THREAD), put, GetTuple(THREAD))
    return (put, *writes, CopyThread(THREAD, NEW), GetTuple(NEW), *deleted)


def _many_runs() -> Program:
    runs = tuple(f"a run {number}" for number in _PLACES)
    puts = (checkpoint(THREAD, number, run=run) for number, run in enumerate(runs, 1))
    return (*puts, DeleteForRuns(runs))


MANY: tuple[Program, ...] = (_many_threads(), _many_namespaces(), _many_writes(), _many_runs())
"""More threads, namespaces, writes and runs than a page of results holds."""

_STORED = tuple(step for n, thread in enumerate(_ALIKE) for step in _two(thread, 10 * n))
ALIKE: tuple[Program, ...] = (
    (*_STORED, *(Prune((thread,), "keep_latest") for thread in _ALIKE)),
    (*_STORED, *(Prune((thread,), "delete") for thread in _ALIKE)),
    (*_STORED, *(CopyThread(thread, f"copy {n}") for n, thread in enumerate(_ALIKE))),
)
"""Threads that a saver may take for one another, each pruned or copied while the others stay."""

_DELTAS = ("log", "notes", "size")


def _delta(
    number: int, valued: tuple[str, ...], namespace: str, run: str | None = None
) -> Iterator[Step]:
    """Yield a checkpoint that stores values of some delta channels, and writes to all of them."""
    changes = (*((n, Value("integer", number) if n in valued else None) for n in _DELTAS),)
    since = {name: [1, 1] for name in _DELTAS if name not in valued}
    metadata = {"source": "loop", "step": number, "parents": {}}
    metadata |= {"counters_since_delta_snapshot": since} if since else {}
    metadata |= {"run_id": run} if run else {}
    parent = number - 1 or None
    yield Put(
        THREAD,
        namespace,
        number,
        parent,
        (("count", Value("integer", 1)), *changes),
        metadata=metadata,
    )
    writes = tuple((name, Value("integer", 10 * number)) for name in _DELTAS)
    yield PutWrites(THREAD, namespace, number, 1, writes)


def _pruned_deltas(namespaces: tuple[str, ...], step: Step, newest: str) -> Program:
    """Return a program that prunes a history with three delta channels.

    Each channel was last stored whole at another checkpoint.
    """
    whole = (_DELTAS, ("notes",), (newest,), (), ())
    puts = [
        one
        for namespace in namespaces
        for number, valued in enumerate(whole, 1)
        for one in _delta(number, valued, namespace)
    ]
    return (*puts, step, *_reads(THREAD))


DELTAS: tuple[Program, ...] = tuple(
    _pruned_deltas(namespaces, Prune((THREAD,), strategy), newest)
    for namespaces in (("",), ("child",), ("", "child"))
    for strategy, newest in (("keep_latest", "size"), ("", "log"))
)
"""Programs that prune threads with delta channels, in the root namespace and nested."""


def _runs_of_deltas(namespaces: tuple[str, ...]) -> Program:
    """Return a program with two runs that deletes the first, whose checkpoints the other needs.

    One branch of the second run is rebuilt from a parent and its ancestors, the other from the
    first checkpoint alone.
    """
    puts: list[Step] = []
    for namespace in namespaces:
        puts += _delta(1, _DELTAS, namespace, "run-1")
        puts += _delta(2, (), namespace, "run-1")
        puts += _delta(3, (), namespace, "run-1")
        puts += _delta(4, (), namespace, "run-2")
        put, batch = _delta(5, (), namespace, "run-2")
        assert isinstance(put, Put)
        puts += (replace(put, parent=1), batch)
    return (*puts, DeleteForRuns(("run-1",)), *_reads(THREAD))


DELTAS_OF_RUNS: tuple[Program, ...] = tuple(map(_runs_of_deltas, (("",), ("child",))))
"""Programs that delete a run which the delta channels of another run need."""

_HISTORY = DeltaHistory(THREAD, "", 2, ("size",))
ASKED_BEFORE_AND_AFTER: tuple[Program, ...] = (
    (
        Put(THREAD, "", 1, None, (("size", Value("integer", 1)),), metadata={"run_id": "run-1"}),
        Put(THREAD, "", 2, 1, (("size", None),)),
        _HISTORY,
        DeleteForRuns(("run-1",)),
        _HISTORY,
    ),
)
"""The history of a channel is asked for, loses its beginning, and is asked for again."""

LISTS: Program = (
    *_two(THREAD),
    *_two(OTHER, 50),
    Prune((THREAD, OTHER), "keep_latest"),
    DeleteForRuns(("run-1", "run-2")),
)
"""Operations that are given several names at once."""
