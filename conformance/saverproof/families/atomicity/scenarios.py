"""The scenarios: each operation that writes, on a store in each state that makes a difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saverproof.programs.small import NEW, OPERATIONS, OTHER, TASK_PATH, THREAD, batch, checkpoint
from saverproof.programs.steps import definitions as steps
from saverproof.programs.values import Value

UNRELATED, ELSEWHERE = "unrelated", "elsewhere"
"""The threads to which the same saver writes afterwards, and to which another saver commits."""
OF_THREADS = (steps.Prune, steps.DeleteForRuns)
"""The operations on several threads, of which each is judged by itself."""


@dataclass(frozen=True, slots=True)
class FaultScenario:
    """An operation on a store in a known state; ``title`` names the state."""

    title: str
    start: steps.Program
    step: steps.Step
    needs: frozenset[str] = frozenset()
    closed: bool = False
    """True if the saver is closed before anybody looks, since it writes after it has returned."""

    @property
    def operation(self) -> str:
        """The name of the saver's method, without the async API's "a"."""
        return OPERATIONS[type(self.step)]

    @property
    def threads(self) -> tuple[str, ...]:
        """Every thread that the state or the operation names."""
        return (THREAD, OTHER, NEW)

    @property
    def is_setup(self) -> bool:
        """True if opening the saver is itself the operation."""
        return isinstance(self.step, steps.SetUp)

    @property
    def makes_the_store(self) -> bool:
        """True if nobody has ever opened a saver on the store."""
        return self.is_setup and not self.start

    @property
    def thread_by_thread(self) -> bool:
        """True if each thread is judged by itself."""
        return isinstance(self.step, OF_THREADS)

    @property
    def puts(self) -> tuple[steps.Put, ...]:
        """Return the checkpoints that are put, parents first."""
        return tuple(step for step in (*self.start, self.step) if isinstance(step, steps.Put))


BYSTANDER = (checkpoint(OTHER, 1), batch(OTHER, 1, 1, 2))
HISTORY = (
    checkpoint(THREAD, 1),
    batch(THREAD, 1, 1, 2),
    checkpoint(THREAD, 2, 1, run="run-2"),
    batch(THREAD, 2, 1, 3, ("__interrupt__", 5)),
    checkpoint(THREAD, 9, namespace="child"),
    *BYSTANDER,
    checkpoint(OTHER, 2, 1, run="run-2"),
)
"""A store with two threads, a subgraph's namespace, two runs, and pending writes old and new."""

_LONG = "a long note " * 800
"""A text that is long enough for a database file to need more pages."""

FORKED = (
    checkpoint(THREAD, 1, also={"log": Value("list", 1), "page": Value("bytes", 1)}),
    batch(THREAD, 1, 1, 2),
    checkpoint(THREAD, 2, 1, also={"log": None, "page": Value("bytes", 2)}),
    *BYSTANDER,
)
"""A scalar, a list, bytes, and a channel that is stored as deltas: the second checkpoint has a
version of that channel, and no value.
"""
SIZES = (
    ("count", Value("integer", 1)),
    ("messages", Value("dict", 1)),
    ("page", Value("medium-text", 1)),
    ("__interrupt__", Value("list", 2)),
    ("notes", Value("text", "a note")),
)
"""Values of many sizes, from a number to 64 KiB, with the longest one in the middle."""

THE_SAME_ID = FaultScenario(
    "the same id again", HISTORY, checkpoint(THREAD, 2, 1, run="run-2", seed=77)
)
A_NEW_TASK = FaultScenario("a new task", HISTORY, batch(THREAD, 2, 2, 4))
LONG_VALUES = FaultScenario(
    "a fork, with long values",
    FORKED,
    checkpoint(THREAD, 3, 1, also={"log": None, "page": Value("medium-bytes", 3)}, noted=_LONG),
)
NO_STORE_YET = FaultScenario("no store yet", (), steps.SetUp(), frozenset({"durable"}))

SCENARIOS = (
    FaultScenario("a first checkpoint", BYSTANDER, checkpoint(THREAD, 1)),
    FaultScenario("a history", HISTORY, checkpoint(THREAD, 3, 2, run="run-3")),
    THE_SAME_ID,
    A_NEW_TASK,
    FaultScenario("a retried batch", HISTORY, batch(THREAD, 2, 1, 5, seed=50)),
    FaultScenario(
        "a long batch with special writes",
        HISTORY,
        batch(THREAD, 2, 3, 11, ("__interrupt__", 1), ("__resume__", 2)),
    ),
    LONG_VALUES,
    FaultScenario("long values", FORKED, steps.PutWrites(THREAD, "", 1, 4, SIZES, TASK_PATH)),
    FaultScenario("a history", HISTORY, steps.DeleteThread(THREAD), frozenset({"delete_thread"})),
    FaultScenario(
        "two runs", HISTORY, steps.DeleteForRuns(("run-1",)), frozenset({"delete_for_runs"})
    ),
    FaultScenario("a history", HISTORY, steps.CopyThread(THREAD, NEW), frozenset({"copy_thread"})),
    FaultScenario(
        "two threads", HISTORY, steps.Prune((THREAD, OTHER), "keep_latest"), frozenset({"prune"})
    ),
    FaultScenario(
        "all of them", HISTORY, steps.Prune((THREAD, OTHER), "delete"), frozenset({"prune"})
    ),
    NO_STORE_YET,
    FaultScenario("an existing store", BYSTANDER, steps.SetUp(), frozenset({"durable"})),
)

RARE = (
    FaultScenario(
        "a fork, with values of 1 MiB",
        FORKED,
        checkpoint(
            THREAD,
            3,
            1,
            also={"log": Value("large-text", 3), "page": Value("large-bytes", 3)},
            noted=_LONG,
        ),
    ),
    FaultScenario(
        "special writes again",
        HISTORY,
        steps.PutWrites(THREAD, "", 2, 1, (("__interrupt__", Value("integer", 9)),), TASK_PATH),
    ),
    FaultScenario(
        "a subgraph",
        HISTORY,
        checkpoint(THREAD, 10, 9, namespace="child", run="run-2", started_by=2),
    ),
    FaultScenario("a subgraph's task", HISTORY, batch(THREAD, 9, 4, 3, namespace="child")),
    FaultScenario(
        "a copy of a checkpoint",
        HISTORY,
        steps.Put(
            THREAD, "", 3, 1, copy_of=2, metadata={"source": "fork", "step": 1, "parents": {}}
        ),
    ),
    FaultScenario(
        "nothing there", BYSTANDER, steps.DeleteThread(THREAD), frozenset({"delete_thread"})
    ),
    FaultScenario("a history", HISTORY, steps.SetUp(), frozenset({"durable"})),
)
"""States of the deep profile only: few savers fail in these and not in the others."""


def suited(scenarios: Iterable[FaultScenario], able: frozenset[str]) -> list[FaultScenario]:
    """Return the scenarios that a saver with these operations can take."""
    return [scenario for scenario in scenarios if scenario.needs <= able]
