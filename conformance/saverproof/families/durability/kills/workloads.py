"""The programs whose processes are killed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from saverproof.programs.generating import next_step
from saverproof.programs.makers import batches, checkpoints, whole_threads
from saverproof.programs.model.store import Model
from saverproof.programs.small import TASK_PATH, batch, checkpoint, unrelated
from saverproof.programs.steps import definitions as steps
from saverproof.programs.theme import Maker, Theme
from saverproof.programs.values import Value

UNRELATED = "afterwards"
"""The thread to which a look writes, once a killed store has been opened again."""
AFTERWARDS = unrelated(UNRELATED)
OF_LOOKS = "looks"
"""The namespace to which a look writes in the threads of the program."""

_LONG = "a long note " * 500
"""A text that is long enough for a database file to need more pages."""


SIZES = (
    checkpoint("e", 1, also={"log": Value("list", 1), "page": Value("medium-bytes", 1)}),
    steps.PutWrites(
        "e",
        "",
        1,
        1,
        (
            ("count", Value("integer", 1)),
            ("page", Value("medium-text", 1)),
            ("__interrupt__", Value("dict", 2)),
            ("notes", Value("text", "a note")),
        ),
        TASK_PATH,
    ),
    checkpoint("e", 2, 1, also={"log": None}, noted=_LONG),
    # A fork.
    checkpoint("e", 3, 1, also={"log": None, "document": Value("large-bytes", 3)}),
)
"""Values of many sizes, from a number to 1 MiB, and a channel that is stored as deltas."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program for one process, and every thread in which it may leave something."""

    name: str
    program: steps.Program

    @property
    def threads(self) -> tuple[str, ...]:
        """The threads that its steps name."""
        found: dict[str, None] = {}
        for step in self.program:
            for field in ("thread", "source", "target"):
                if hasattr(step, field):
                    found[getattr(step, field)] = None
            found |= dict.fromkeys(getattr(step, "threads", ()))
        return tuple(found)

    def of(self, prefix: str) -> Workload:
        """Return the same workload on threads of its own, whose names have this prefix."""
        return Workload(self.name, tuple(_renamed(step, prefix) for step in self.program))


def workloads(able: Collection[str]) -> tuple[Workload, ...]:
    """Return the fixed programs that a saver with these capabilities can take."""
    early = (batch("a", 3, 2, 2),) if "early_writes" in able else ()
    run = (
        checkpoint("a", 1),
        batch("a", 1, 1, 3),
        checkpoint("a", 2, 1, long=_LONG),
        # Writes to what is there already can overtake a put that is not.
        batch("a", 1, 2, 2),
        batch("a", 2, 3, 11, ("__interrupt__", 5)),
        *early,
        checkpoint("a", 3, 2),
        checkpoint("a", 9, namespace="child"),
        checkpoint("a", 3, 2, seed=77),
        batch("a", 9, 1, 1, namespace="child"),
    )
    keeping: tuple[steps.Step | None, ...] = (
        checkpoint("a", 1, run="run-1"),
        batch("a", 1, 1, 2),
        checkpoint("a", 2, 1, run="run-2"),
        checkpoint("b", 1, run="run-2"),
        batch("b", 1, 1, 2),
        steps.CopyThread("a", "c") if "copy_thread" in able else None,
        steps.DeleteForRuns(("run-1",)) if "delete_for_runs" in able else None,
        steps.Prune(("a", "b"), "keep_latest") if "prune" in able else None,
        # More than one checkpoint is to go, each with writes.
        checkpoint("b", 2, 1),
        batch("b", 2, 1, 2),
        steps.DeleteThread("b") if "delete_thread" in able else None,
        checkpoint("d", 1),
        steps.DeleteThread("a") if "delete_thread" in able else None,
    )
    kept = tuple(step for step in keeping if step is not None)
    return (
        Workload("a run", run),
        Workload("housekeeping", kept),
        Workload("values of all sizes", SIZES),
    )


_TIMES_REPLACED = 110
"""How often a checkpoint is put again: what tidies up after so many dead rows or lines mostly does
so after sixty-four or a hundred.
"""
REPLACED = Workload(
    "put again and again",
    (
        checkpoint("f", 1),
        batch("f", 1, 1, 2),
        *(checkpoint("f", 1, seed=number) for number in range(_TIMES_REPLACED)),
        checkpoint("f", 2, 1),
    ),
)
"""A long program, for savers that answer quickly."""


def drawn(seed: str, able: Collection[str], length: int) -> Workload:
    """Return a random program."""
    weights: dict[Maker, int] = {
        checkpoints.put: 6,
        checkpoints.put_again: 1,
        checkpoints.put_replacing: 1,
        batches.writes: 6,
        batches.writes_again: 2,
        batches.writes_special: 1,
    }
    if "early_writes" in able:
        weights[batches.writes_early] = 1
    if "delete_thread" in able:
        weights[whole_threads.delete_thread] = 1
    theme = Theme("crash", weights, groups=("plain",))
    model, choose = Model(), Random(seed)
    program: list[steps.Step] = []
    for _ in range(length):
        step = next_step(model, choose, theme)
        if "history" not in able and _older(step, model):
            continue
        program.append(step)
        model.apply(step)
    return Workload("a random program", tuple(program))


def _older(step: steps.Step, model: Model) -> bool:
    """Return whether a step is about an older checkpoint. A saver that keeps only the newest need
    not store such a checkpoint.
    """
    if not isinstance(step, steps.Put | steps.PutWrites):
        return False
    latest = model.latest(step.thread, step.namespace)
    return latest is not None and step.number < latest


def survivors(prefix: str) -> tuple[Workload, int]:
    """Return the program of a second process, and the number of its last steps that come only after
    the first process has died.
    """
    before: list[steps.Step] = [checkpoint("s", 1)]
    for number in range(1, 5):
        before += [batch("s", number, 1, 2), checkpoint("s", number + 1, number)]
    last = (batch("s", 5, 1, 2), checkpoint("s", 6, 5), batch("s", 6, 2, 1))
    return Workload("a second process", (*before, *last)).of(prefix), len(last)


def _renamed(step: steps.Step, prefix: str) -> steps.Step:
    named: dict[str, Any] = {
        field: prefix + getattr(step, field)
        for field in ("thread", "source", "target")
        if hasattr(step, field)
    }
    if hasattr(step, "threads"):
        named["threads"] = tuple(prefix + thread for thread in step.threads)
    return replace(step, **named)  # type: ignore[type-var]
