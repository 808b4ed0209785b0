"""The changes that one saver makes, and the questions by which another one is asked for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from saverproof.capability import Capability
from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Touched
from saverproof.programs.small import batch
from saverproof.programs.steps import definitions as steps
from saverproof.programs.values import Value


@dataclass(frozen=True, slots=True)
class TouchingStep:
    """A step, the point of an axis that it touches, and what a saver needs for it. ``own`` says
    that the saver which is asked makes the change itself.
    """

    point: Touched
    step: steps.Step
    needs: str | None = None
    own: bool = False


def _put(
    thread: str,
    number: int,
    parent: int | None = None,
    namespace: str = "",
    *,
    run: str = "run-1",
    seed: int = 0,
) -> steps.Put:
    changes = (("notes", Value("list", number + seed)),)
    metadata = {"source": "loop", "run_id": run}
    return steps.Put(thread, namespace, number, parent, changes=changes, metadata=metadata)


def _counted(number: int) -> steps.Put:
    """Return a put that replaces a checkpoint's metadata, with a count of two digits: its length
    never changes.

    Channel values stay as they are, since a saver may keep a new value beside the old one.
    """
    metadata = {"source": "loop", "run_id": "run-2", "count": number}
    return replace(_put("a", 4, 2), changes=(), metadata=metadata)


CHANGES = (
    TouchingStep(table.CHANGE.at("first checkpoint"), _put("a", 1)),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _put("a", 2, 1)),
    TouchingStep(table.CHANGE.at("first checkpoint"), _put("a", 9, namespace="child")),
    TouchingStep(table.CHANGE.at("writes"), batch("a", 2, 1, 3)),
    TouchingStep(table.CHANGE.at("early writes"), batch("a", 4, 1, 2), Capability.EARLY_WRITES),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _put("a", 4, 2, run="run-2")),
    TouchingStep(table.CHANGE.at("older checkpoint"), _put("a", 3, 1), Capability.HISTORY),
    TouchingStep(table.CHANGE.at("checkpoint put again"), _put("a", 4, 2, run="run-2", seed=77)),
    # A file that is written again within its second, as long as before, looks unchanged. One second
    # may end between two of them.
    *(
        TouchingStep(table.CHANGE.at("checkpoint put again"), _counted(number))
        for number in (81, 82, 83)
    ),
    TouchingStep(
        table.CHANGE.at("copy_thread"), steps.CopyThread("a", "b"), Capability.COPY_THREAD
    ),
    TouchingStep(
        table.CHANGE.at("delete_for_runs"),
        steps.DeleteForRuns(("run-2",)),
        Capability.DELETE_FOR_RUNS,
    ),
    TouchingStep(table.CHANGE.at("prune"), steps.Prune(("a",), "keep_latest"), Capability.PRUNE),
    TouchingStep(
        table.CHANGE.at("delete_thread"), steps.DeleteThread("a"), Capability.DELETE_THREAD
    ),
    TouchingStep(table.CHANGE.at("first checkpoint"), _put("c", 1)),
)


def _filled(seed: int) -> tuple[TouchingStep, ...]:
    return (
        TouchingStep(table.CHANGE.at("first checkpoint"), _put("a", 1, seed=seed)),
        TouchingStep(table.CHANGE.at("newer checkpoint"), _put("a", 2, 1, seed=seed)),
        TouchingStep(table.CHANGE.at("writes"), batch("a", 2, 1, 3)),
    )


_DELETED = TouchingStep(table.CHANGE.at("delete_thread"), steps.DeleteThread("a"))
FILLED = _filled(0)
FILLED_ALIKE = (_DELETED, *_filled(3))
"""What a file hides that is as long as before: every third value has the same form."""
FILLED_BEYOND = (
    *FILLED_ALIKE,
    TouchingStep(table.CHANGE.at("newer checkpoint"), _put("a", 3, 2, seed=3)),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _put("a", 4, 3, seed=3)),
)
"""What hides that a file which has grown is another one."""


def _bare(number: int, parent: int | None, *, run: str = "run-1", count: int = 10) -> steps.Put:
    """Return a put without values: the two processes need not agree on versions."""
    metadata = {"source": "loop", "run_id": run, "count": count}
    return steps.Put("a", "", number, parent, metadata=metadata)


BOTH_WRITE = (
    TouchingStep(table.CHANGE.at("first checkpoint"), _bare(1, None), own=True),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _bare(2, 1)),
    TouchingStep(table.CHANGE.at("writes"), batch("a", 2, 1, 3), own=True),
    TouchingStep(table.CHANGE.at("writes"), batch("a", 2, 2, 3)),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _bare(4, 2), own=True),
    TouchingStep(table.CHANGE.at("checkpoint put again"), _bare(4, 2, count=11)),
    TouchingStep(table.CHANGE.at("prune"), steps.Prune(("a",), "keep_latest"), Capability.PRUNE),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _bare(5, 4, run="run-2"), own=True),
    TouchingStep(
        table.CHANGE.at("delete_for_runs"),
        steps.DeleteForRuns(("run-2",)),
        Capability.DELETE_FOR_RUNS,
    ),
    TouchingStep(table.CHANGE.at("newer checkpoint"), _bare(6, 4), own=True),
    TouchingStep(
        table.CHANGE.at("delete_thread"), steps.DeleteThread("a"), Capability.DELETE_THREAD
    ),
)
"""What a saver may keep of its own writes, the other saver changes right after."""
QUESTIONS = (
    *(
        TouchingStep(table.READ.at("the newest"), steps.GetTuple(thread))
        for thread in ("a", "b", "c")
    ),
    TouchingStep(table.READ.at("the newest"), steps.GetTuple("a", "child")),
    *(TouchingStep(table.READ.at("by id"), steps.GetTuple("a", "", number)) for number in (2, 4)),
    TouchingStep(table.READ.at("list of a namespace"), steps.ListTuples("a", "")),
    TouchingStep(table.READ.at("list of a namespace"), steps.ListTuples("a", "", limit=1)),
    TouchingStep(
        table.READ.at("list of a namespace"), steps.ListTuples("a", "", filter={"source": "loop"})
    ),
    TouchingStep(table.READ.at("list of a thread"), steps.ListTuples("a")),
    TouchingStep(table.READ.at("list of everything"), steps.ListTuples(None), table.OWN_STORE),
)
