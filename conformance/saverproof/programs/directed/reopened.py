"""Programs that store one of each, and open or set up the saver again: at once, or after much work.

A saver that replays a log when it is opened may replay a change otherwise than it made it, and one
that replaces the log by a snapshot now and then may leave something out of the snapshot. Both are
seen only once the saver is opened again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from saverproof.programs.small import NEW, OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Reopen,
    SetUp,
    Step,
)
from saverproof.programs.values import Value

# Snapshots are made each 50 or 100 changes, as a rule.
_CHANGES = 130
_BUSY, _GONE, _CHILD = "busy", "gone", "child"
# The busy thread is gone before the saver is opened again: of few checkpoints all are read then.
_MUCH_WORK: Program = (PutHistory(_BUSY, "", 1, _CHANGES), DeleteThread(_BUSY))
_TASKS = 3


@dataclass(frozen=True, slots=True)
class KeptSteps:
    """What must be kept when a saver is opened again.

    Attributes:
        stored: the steps that store it.
        later: the steps that show whether it is there, or go on with it.
        needs: the capabilities that a saver must have for them.
    """

    stored: Program
    later: Program
    needs: frozenset[str]

    def at_once(self) -> Program:
        """Return the program that opens the saver after the steps, goes on, and opens it again."""
        return (*self.stored, Reopen(), *self.later, Reopen())

    def after_much_work(self) -> Program:
        """Return the same program, with much other work before the saver is opened."""
        return (*self.stored, *_MUCH_WORK, Reopen(), *self.later, Reopen())


def _kept(stored: Iterable[Step], later: Iterable[Step], *needs: str) -> KeptSteps:
    return KeptSteps(
        (*stored,), (*later,), frozenset({"durable", "delete_thread", "history", *needs})
    )


def _reads(*threads: str) -> Iterator[Step]:
    for thread in threads:
        yield GetTuple(thread)
        yield ListTuples(thread)


def _stored() -> Iterator[Step]:
    """Yield steps that store one of each: empty values and None, parents in any order, namespaces,
    special writes, and an id put again.
    """
    unusual: Mapping[str, Value | None] = {"empty": Value("text", ""), "nothing": Value("none", 0)}
    yield checkpoint(THREAD, 1, also=unusual)
    yield checkpoint(THREAD, 4, 1)
    yield checkpoint(THREAD, 3, 4)
    yield batch(THREAD, 1, 1, 2, ("__interrupt__", 1), ("__resume__", 2))
    yield from _again(2, 3, seed=50)
    yield checkpoint(THREAD, 5, namespace=_CHILD)
    yield batch(THREAD, 5, 1, 2, namespace=_CHILD)
    yield checkpoint(THREAD, 3, 4, seed=70)
    yield PutWrites(
        THREAD, "", 4, 1, (("notes", Value("none", 0)), ("__interrupt__", Value("none", 0)))
    )


def _again(count: int, resumed: int, *, seed: int) -> Iterator[Step]:
    """Yield the writes of a task that is done again. The special write has a batch of its own: in
    a mixed one, some savers keep the first, which has a contract of its own and hides the rest.
    """
    yield batch(THREAD, 1, 1, count, seed=seed)
    yield batch(THREAD, 1, 1, 0, ("__resume__", resumed))


def _tasks() -> Iterator[Step]:
    """Yield writes of tasks whose order follows from their paths alone."""
    for task in range(1, _TASKS + 1):
        write = (("count", Value("integer", task)),)
        yield PutWrites(THREAD, "", 3, task, write, f"~__pregel_pull, {_TASKS - task}")


def _refilled() -> Iterator[Step]:
    """Yield steps that fill a thread, delete it, and fill it again; another stays deleted."""
    for seed in (100, 200):
        yield checkpoint(OTHER, 1, seed=seed)
        yield batch(OTHER, 1, 1, 2, seed=seed)
        if seed == 100:
            yield DeleteThread(OTHER)
    yield checkpoint(_GONE, 1)
    yield DeleteThread(_GONE)


_EARLY = (batch(THREAD, 6, 1, 2), batch(NEW, 1, 1, 2, ("__error__", 1)))
_RUNS = (
    checkpoint(THREAD, 1),
    checkpoint(THREAD, 2, 1, run="run-2"),
    checkpoint(THREAD, 3, namespace=_CHILD),
    checkpoint(THREAD, 4, 2),
    checkpoint(OTHER, 1),
)
_DELTAS = (
    Put(THREAD, "", 1, None, (("log", Value("integer", 1)),)),
    *(Put(THREAD, "", n, n - 1, (("log", None),)) for n in (2, 3)),
    *(batch(THREAD, n, 1, 1) for n in (1, 2)),
    *(PutWrites(THREAD, "", n, 2, (("log", Value("integer", n)),)) for n in (1, 2)),
)

SET_UP_AGAIN: Program = (
    *(*_stored(), SetUp()),
    *(*_again(3, 4, seed=90), checkpoint(THREAD, 7, 3), SetUp()),
    # The second worker of an application sets up what the first has filled.
    *(Reopen(), SetUp()),
)
"""A store that is set up again: by the saver that filled it, and by one that has just opened it."""
KEPT: Mapping[str, KeptSteps] = {
    "what is stored": _kept(
        (*_stored(), *_tasks(), *_refilled()),
        (
            *_again(3, 4, seed=90),
            *(checkpoint(THREAD, 7, 3), DeleteThread(OTHER), checkpoint(OTHER, 2)),
        ),
    ),
    "early writes": _kept(
        (checkpoint(THREAD, 1), *_EARLY),
        (checkpoint(THREAD, 6, 1), checkpoint(NEW, 1)),
        "early_writes",
    ),
    "a copy": _kept(
        (*_stored(), CopyThread(THREAD, NEW)),
        (checkpoint(THREAD, 3, 4, seed=80), batch(NEW, 3, 1, 2), DeleteThread(THREAD)),
        "copy_thread",
    ),
    "runs": _kept(
        (*_RUNS, replace(_RUNS[0], metadata={"run_id": "run-3"})),
        (DeleteForRuns(("run-1",)), *_reads(THREAD, OTHER), DeleteForRuns(("run-3",))),
        "delete_for_runs",
    ),
    "a prune": _kept(
        (*_stored(), Prune((THREAD,), "keep_latest")),
        (checkpoint(THREAD, 8), *_reads(THREAD), Prune((THREAD,), "keep_latest")),
        "prune",
    ),
    "deltas": _kept(_DELTAS, (DeltaHistory(THREAD, "", 3, ("log",)),), "delta_history"),
}
"""What must be kept, each with the steps that show it."""
