"""The scene of a checkpoint that is put again under its own descendant.

The chain of its parents is then a loop, and an operation that follows parents must nevertheless
end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import delta_history
from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Fact
from saverproof.judging.scenes.scene import Scene
from saverproof.process import heartbeat
from saverproof.process.counted_lines import LineCount, TooManyLinesError
from saverproof.process.standstill import ends
from saverproof.programs.steps.definitions import Put, PutWrites, Step
from saverproof.programs.steps.identifiers import task_id
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import PutCall, address_config, read_config
from saverproof.savers.execution.settled_calls import Calls, perform
from saverproof.savers.execution.store import Store
from saverproof.savers.execution.versions import versions_of
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.scripts.helpers import MANY_LINES
from saverproof.scripts.script import complaint
from saverproof.scripts.source import quoted
from saverproof.scripts.writer import ScriptWriter
from saverproof_faults.servers.keeper_client import end_sessions

T = TypeVar("T")

IN_A_LOOP = {
    "get_delta_channel_history": "delta_history",
    "prune": "prune",
    "delete_for_runs": "delete_for_runs",
    "copy_thread": "copy_thread",
}
"""The operations that may follow parents, each with the capability that it needs."""
_CHANNEL = "log"
_LENGTH = 3
"""How many checkpoints the loop has. A loop of a checkpoint and its parent may be a case of its
own.
"""
_FIRST = {"straight": 4, "loop": 1}
"""The number of each thread's first checkpoint. They differ, as other programs show whether a saver
confuses threads.
"""
MANY = 100
"""How many times as many lines as the same operation beside the loop make a walk count as endless:
it would have seen each checkpoint of the loop a hundred times.
"""
AT_LEAST = 10_000
"""How many lines an operation may take in any case: to notice the loop and to report it takes some
lines, once.
"""
PATIENCE_S = 5.0
"""Seconds without any progress after which an operation on a loop of parents counts as never
ending.
"""
_AT_MOST = 2
"""How many times ``PATIENCE_S`` an operation may be at work, if beside the loop it takes a
hundredth of that time.
"""

_ENDLESS = Fact("endless", "it goes round and round")
_HANG = Fact(facts.HANG, "the call never returns")
_NEVER_ENDED: dict[tuple[Any, str, str], str] = {}
"""What was observed of calls that never ended, by target, API and operation. One hang is enough, as
the scene is the same each time.
"""


@dataclass(slots=True)
class _Course:
    """How far the scene has come in its own thread."""

    lines: LineCount = field(default_factory=LineCount)
    straight_s: float | None = None
    ended: bool = False
    place: str = ""


class _CountingLoop(EventLoop):
    """An event loop that counts the lines of what is called on it, while lines are counted."""

    def __init__(self, lines: LineCount) -> None:
        super().__init__()
        self._lines = lines

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return super().run(self._counted(coroutine) if self._lines.active else coroutine)

    async def _counted(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._lines.counting():
            return await coroutine


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """The look for a walk that goes round in a thread of the saver's own."""

    scene: ParentLoop

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the scene, in which the lines of the saver's threads are counted."""
        del last, difference
        self.scene.write_counted(writer, in_threads=True)


@dataclass(frozen=True, slots=True)
class ParentLoop(Scene):
    """An operation on a thread whose parents are a loop, in a workspace of its own."""

    operation: str

    about: ClassVar[Contract] = delta_history.ENDS
    calls_optional: ClassVar[bool] = True

    def words(self) -> str:
        return f"{self.operation}(…) where checkpoint 1 was put again under its own descendant 3"

    # --- on the saver ------------------------------------------------------------------------

    def play(self, context: Context) -> None:
        own, log = context.store, context.facts.by(self)
        key = (own.target.open, own.apis[0], self.operation)
        expected = f"{self.operation} to end"
        if key in _NEVER_ENDED:
            log.differ(_HANG, None, expected, _NEVER_ENDED[key])
            return
        course = _Course()
        worker = threading.Thread(target=lambda: self._run(context, course), daemon=True)
        alive = partial(heartbeat.beat, len(context.taken))
        over = ends(worker, PATIENCE_S, _AT_MOST * PATIENCE_S, alive)
        ended = course.ended  # what is given up may end then
        if not over:
            course.lines.give_up()
        if own.target.server is not None and course.place:
            # A script of Redis may go on, though the call has raised, and keep all others from
            # the server.
            end_sessions(own.target.server, course.place)
        if course.lines.exceeded:
            observed = f"it goes on after {MANY} times the lines that it takes beside the loop"
            look = _Elsewhere(self) if course.lines.exceeded_elsewhere else self
            log.differ(_ENDLESS, None, expected, observed, look=look)
        elif ended:
            context.facts.agree(self.contract)
        elif not over and course.straight_s is not None:
            if over is None and MANY * course.straight_s > _AT_MOST * PATIENCE_S:
                return
            observed = _NEVER_ENDED[key] = f"no answer within {PATIENCE_S:g} s"
            log.differ(_HANG, None, expected, observed)

    def _run(self, context: Context, course: _Course) -> None:
        # Whatever fails before the question is no part of the scene: other programs show it.
        with suppress(Exception), _CountingLoop(course.lines) as loop:
            own = context.store
            with (
                course.lines.following_threads(),
                Store(own.target, own.folder, loop, own.apis[:1]) as store,
            ):
                course.place = store.workspace.name
                self._visit(store, course)

    def _visit(self, store: Store, course: _Course) -> None:
        calls, driver = Calls(versions_of(store.saver)), store.drivers[0]
        for thread in _FIRST:
            made = calls.settle(_line(thread))
            for call in made:
                perform(driver, call)
        first = made[0].arguments
        assert isinstance(first, PutCall)
        # A saver that loses parents makes no loop: that it ends tells nothing.
        if (
            driver.get_tuple(address_config("straight", "", _last("straight"))).parent_config
            is None
        ):
            return
        under = read_config(("loop", "", _last("loop")), "loop")
        with suppress(Exception):  # to refuse it is a right answer
            driver.put(replace(first, config=under))
        began = time.monotonic()
        with suppress(Exception), course.lines.counting():
            self._ask(driver, "straight")
        course.straight_s = time.monotonic() - began
        course.lines.limit = (1 + MANY) * course.lines.lines + AT_LEAST
        with suppress(Exception, TooManyLinesError), course.lines.counting():
            self._ask(driver, "loop")
        course.ended = True

    def _ask(self, driver: Any, thread: str) -> object:
        if self.operation == "get_delta_channel_history":
            asked = address_config(thread, "", _last(thread))
            return driver.delta_history(asked, (_CHANNEL,))
        middle = _last(thread) - 1
        calls: dict[str, Callable[[], object]] = {
            "prune": lambda: driver.invoke("prune", [thread], strategy="keep_latest"),
            "delete_for_runs": lambda: driver.invoke("delete_for_runs", [f"{thread}-{middle}"]),
            "copy_thread": lambda: driver.invoke("copy_thread", thread, f"copy of {thread}"),
        }
        return calls[self.operation]()

    # --- in scripts --------------------------------------------------------------------------

    def write(self, writer: ScriptWriter) -> None:
        """Write nothing: the scene is played in a workspace of its own."""

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        if difference.kind is not _HANG:
            self.write_counted(writer, in_threads=False)
            return
        self._write_loop(writer)
        writer.patience_s = PATIENCE_S
        writer.say("called.append(True)", *self._asked(writer, "Exception"))

    def write_counted(self, writer: ScriptWriter, *, in_threads: bool) -> None:
        """Write the scene, and a complaint if the call runs too many lines. They are counted on the
        script's own thread, or in all others.
        """
        # A sync call of a script that awaits is made in a thread as well.
        elsewhere = in_threads or (writer.calls.in_coroutine and writer.calls.api == "sync")
        writer.alone = elsewhere
        writer.helpers |= {"watch", "watched_threads"} if elsewhere else {"watch"}
        self._write_loop(writer)
        end = complaint(f"{self.operation} to end", f"it goes on after {MANY_LINES:,} lines")
        asked = self._asked(writer, "BaseException")
        writer.say(
            *(asked if elsewhere else ["sys.settrace(watch)", *asked, "sys.settrace(None)"]),
            f"if next(lines) > {MANY_LINES:_}:",
            f"    {end}",
        )

    def _asked(self, writer: ScriptWriter, error: str) -> list[str]:
        """Return the lines that make the call, which may raise this error."""
        call = writer.api_call(_api(writer), self.operation, *self._arguments)
        return [f"with contextlib.suppress({error}):", f"    {call}"]

    def _write_loop(self, writer: ScriptWriter) -> None:
        """Write the puts whose parents are a loop."""
        writer.helpers |= {"config", "checkpoint"}
        writer.id(_LENGTH)
        api = _api(writer)
        put = ("at", "checkpoint(n, {}, new, **old)", "said", "new")
        again = ("at", "checkpoint(1, {}, old)", "{}", "old")
        note, version = (
            f'[("{_CHANNEL}", n)]',
            f'saver.get_next_version(old.get("{_CHANNEL}"), None)',
        )
        counters = f'"counters_since_delta_snapshot": {{"{_CHANNEL}": [1, 1]}}'
        writer.say(
            'at, old = config("a", ""), {}',
            f"for n in range(1, {_LENGTH + 1}):",
            f'    new = {{"{_CHANNEL}": {version}}}',
            f'    said = {{"run_id": f"run {{n}}", {counters}}}',
            f"    {writer.api_call(api, 'put', *put)}",
            '    at, old = config("a", "", ID[n]), new',
            f"    {writer.api_call(api, 'put_writes', 'at', note, quoted(task_id(1)))}",
            "with contextlib.suppress(Exception):  # to refuse it is right",
            f"    {writer.api_call(api, 'put', *again)}",
        )

    @property
    def _arguments(self) -> tuple[str, ...]:
        """The operation's arguments, as source."""
        match self.operation:
            case "get_delta_channel_history":
                return "config=at", f'channels=["{_CHANNEL}"]'
            case "prune":
                return '["a"]', 'strategy="keep_latest"'
            case "delete_for_runs":
                return (f'["run {_LENGTH - 1}"]',)
        return '"a"', '"b"'


def _api(writer: ScriptWriter) -> str:
    return "async" if writer.calls.api == "async" else "sync"


def _last(thread: str) -> int:
    return _FIRST[thread] + _LENGTH - 1


def _line(thread: str) -> tuple[Step, ...]:
    """Return a thread of checkpoints, each below the one before, with a channel kept as changes."""
    steps: list[Step] = []
    first = _FIRST[thread]
    for number in range(first, first + _LENGTH):
        said = {"source": "loop", "step": number, "parents": {}, "run_id": f"{thread}-{number}"}
        said["counters_since_delta_snapshot"] = {_CHANNEL: [1, 1]}
        parent = None if number == first else number - 1
        steps += (
            Put(thread, "", number, parent, changes=((_CHANNEL, None),), metadata=said),
            PutWrites(thread, "", number, 1, ((_CHANNEL, Value("integer", number)),)),
        )
    return tuple(steps)
