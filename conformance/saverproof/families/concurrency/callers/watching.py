"""Watches a scene from another thread, and tells a scene that waits for ever from a slow one."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import AsyncGeneratorType, FrameType
from typing import Any

import saverproof
from saverproof.process.stacks import of_others
from saverproof.process.standstill import MovementWatch
from saverproof.savers.targets.event_loop import EventLoop

PATIENCE_S = 3.0
"""Seconds without any progress before a scene counts as hung."""

LOCK_PATIENCE_S = 11.0
"""The same where several savers or processes use one store: longer than a database usually waits
for a lock.
"""

LIMIT_S = 18.0
"""Seconds that a scene may take if it makes progress; nothing is judged of a scene that takes
longer.
"""

_POLL_S = 0.02
_LONGEST = 6_000
_KIT = os.path.dirname(os.path.abspath(saverproof.__file__))


@dataclass(frozen=True, slots=True)
class Standstill:
    """The report on a scene that is not over. ``hung`` says that it never will be: for ``seconds``
    no call was answered, no thread moved, and no processor time was used.
    """

    hung: bool
    seconds: float
    stacks: str


class AnswerCount:
    """Counts answered calls; any thread may add to it."""

    def __init__(self) -> None:
        self.answers = 0

    def tick(self) -> None:
        """Count one more answer."""
        self.answers += 1


def watch(
    scene: Callable[[], object],
    progress: AnswerCount,
    loop: EventLoop | None = None,
    patience_s: float = PATIENCE_S,
) -> Standstill | None:
    """Run a scene in a thread of its own. Return None once it is over, or why it is not.

    If the scene hangs, its thread is left behind, so this process should end soon. A scene must not
    raise.
    """
    stage = threading.Thread(target=scene, name="stage", daemon=True)
    stage.start()
    return await_end(stage, progress, loop, patience_s)


def await_end(
    stage: threading.Thread, progress: AnswerCount, loop: EventLoop | None, patience_s: float
) -> Standstill | None:
    """Wait for the end of a scene's thread."""
    movement = MovementWatch()
    while True:
        before = time.monotonic()
        stage.join(_POLL_S)
        if not stage.is_alive():
            return None
        # If this process was itself suspended, so was the scene: no single wait counts for much.
        movement.look(min(time.monotonic() - before, 5 * _POLL_S), progress.answers)
        if movement.for_ever(patience_s):
            return Standstill(True, round(movement.still_s, 1), stacks(loop))
        if movement.total_s >= LIMIT_S:
            return Standstill(False, round(movement.total_s, 1), stacks(loop))


# --- stacks --------------------------------------------------------------------------------------


def stacks(loop: EventLoop | None = None) -> str:
    """Return the stacks of a loop's tasks and of all other threads, the innermost call last."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    # Tasks first: threads that other calls have left waiting may be many.
    parts = [] if loop is None else _tasks(loop.loop)
    for ident, stack in of_others().items():
        frames = traceback.StackSummary.from_list(
            [
                traceback.FrameSummary(code.co_filename, line, code.co_name)
                for code, line in reversed(stack)
            ]
        )
        lines = without_kit(frames)
        if lines and not (loop is not None and _waits_for_a_loop(frames)):
            parts.append(f"thread {names.get(ident, ident)}:\n{lines}")
    return "\n".join(parts)[:_LONGEST]


def _tasks(loop: asyncio.AbstractEventLoop) -> list[str]:
    found = []
    for task in sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name()):
        lines = without_kit(traceback.StackSummary.from_list(_awaits(task.get_coro())))
        if lines:
            found.append(f"task {task.get_name()}:\n{lines}")
    return found


def position_of(listing: Any) -> str:
    """Return the position of a generator, sync or async, that was left between two items."""
    return without_kit(traceback.StackSummary.from_list(_awaits(listing)))


_KINDS = (("cr", "cr_await"), ("ag", "ag_await"), ("gi", "gi_yieldfrom"))


def _awaits(coroutine: Any) -> list[traceback.FrameSummary]:
    """Return the chain of awaits of a coroutine or generator."""
    found: list[traceback.FrameSummary] = []
    while coroutine is not None:
        coroutine = _inside(coroutine)
        for kind, waits in _KINDS:
            frame: FrameType | None = getattr(coroutine, f"{kind}_frame", None)
            if frame is not None:
                name = frame.f_code.co_name
                found.append(
                    traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno or 0, name)
                )
                coroutine = getattr(coroutine, waits)
                break
        else:
            return found
    return found


def _inside(awaited: Any) -> Any:
    """Return the generator from which a call of ``__anext__`` takes its item. The call itself does
    not name it.
    """
    if type(awaited).__name__ in ("async_generator_asend", "anext_awaitable"):
        inner = gc.get_referents(awaited)
        generators = [one for one in inner if isinstance(one, AsyncGeneratorType)]
        return generators[0] if generators else None
    return awaited


def without_kit(frames: traceback.StackSummary) -> str:
    """Return frames as lines, without the kit's own. Return "" if only frames that start or rest a
    thread are left.
    """
    theirs = [frame for frame in frames if not frame.filename.startswith(_KIT)]
    if all(_is_scaffold(frame) for frame in theirs):
        return ""
    return "\n".join(
        f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"
        for frame in theirs
        if not _is_scaffold(frame)
    )


def _waits_for_a_loop(frames: traceback.StackSummary) -> bool:
    """Return whether a thread belongs to the kit and waits for a task to end."""
    kit = [place for place, frame in enumerate(frames) if frame.filename.startswith(_KIT)]
    return bool(kit) and os.path.basename(frames[min(kit[-1] + 1, len(frames) - 1)].filename) == (
        "_base.py"
    )


def _is_scaffold(frame: traceback.FrameSummary) -> bool:
    """Return whether a frame only starts a thread, or waits for work in an idle thread."""
    name = os.path.basename(frame.filename)
    if name == "threading.py":
        return frame.name in ("_bootstrap", "_bootstrap_inner", "run")
    return name in ("base_events.py", "selectors.py") and frame.name in (
        "run_forever",
        "_run_once",
        "select",
    )
