"""Programs of special writes as they are made while a run waits for people: several tasks stop on
one checkpoint, one answer comes for the run, others for single tasks, and a task stops again.
"""

from __future__ import annotations

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.small import NEW, TASK_PATH, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value

_RUN, _FIRST, _SECOND, _THIRD = range(4)
"""Numbers of tasks; ``_RUN`` is the null task, under which ``Command(resume=...)`` is stored."""
_LOOK = GetTuple(THREAD, "", 1)


def _write(task: int, channel: str, seed: int) -> PutWrites:
    """Return a batch of one special write: a list, as the loop stores interrupts and answers."""
    path = TASK_PATH if task else ""
    return PutWrites(THREAD, "", 1, task, ((channel, Value("list", seed)),), path)


def _by_each_task(channel: str) -> Program:
    """Return a program in which three tasks, of which one has regular writes already, write to a
    special channel in turn, and each once more.
    """
    writes: list[Step] = [batch(THREAD, 1, _THIRD, 2)]
    for seed in (1, 4):
        for task in (_FIRST, _SECOND, _THIRD):
            writes += (_write(task, channel, seed + task), _LOOK)
    return (checkpoint(THREAD, 1), *writes, ListTuples(THREAD))


APPROVALS: tuple[Program, ...] = (
    *map(_by_each_task, SPECIAL_INDEX),
    (
        checkpoint(THREAD, 1),
        _write(_FIRST, "__interrupt__", 1),
        _write(_SECOND, "__interrupt__", 2),
        _write(_RUN, "__resume__", 3),
        _LOOK,
        _write(_FIRST, "__resume__", 4),
        _LOOK,
        _write(_SECOND, "__resume__", 5),
        _write(_FIRST, "__interrupt__", 6),
        _write(_FIRST, "__error__", 7),
        _LOOK,
        _write(_RUN, "__resume__", 8),
        _write(_SECOND, "__interrupt__", 9),
        ListTuples(THREAD),
    ),
)
"""Each special channel written by several tasks of one checkpoint, and all that two tasks write
which stop, are answered, stop again and fail.
"""

ANSWERED_AND_KEPT: tuple[Program, ...] = tuple(
    (
        checkpoint(THREAD, 1),
        _write(_FIRST, "__interrupt__", 1),
        _write(_RUN, "__resume__", 2),
        step,
        ListTuples(None),
    )
    for step in (
        CopyThread(THREAD, NEW),
        Prune((THREAD,), "keep_latest"),
        DeleteForRuns(("run-2",)),
    )
)
"""A thread that is copied or tidied up between an answer and the step that uses it."""
