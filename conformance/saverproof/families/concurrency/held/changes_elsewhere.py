"""Lets another process change a store while a read of the store is held in this one."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.answering import ELSEWHERE, HERE, Answer, answer_all
from saverproof.families.concurrency.callers.child import ScenePart, operations_in
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.messages import GoneError, Messages
from saverproof.families.concurrency.callers.records import Operation, TimedCall
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import Acks

_NAP_S = 0.001
"""Between signals to a process that may not have stopped yet: short beside any stop."""
_GOES_ON = "it was stopped, and goes on"


@dataclass(frozen=True, slots=True)
class ChangesElsewhere:
    """Lets the other process make calls, and tells what that process was answered."""

    _messages: Messages
    _asking: threading.Lock = field(default_factory=threading.Lock)
    """Held while one thread sends a request and waits for its answer."""

    @classmethod
    @contextmanager
    def of(cls, scene: ScenePart, meeting: Path) -> Iterator[ChangesElsewhere]:
        """Meet the other process, which may end when the block is left."""
        with Meeting(meeting, HERE, 2) as met:
            yield cls(Messages(met, meeting, HERE, scene.progress.tick))

    @property
    def process(self) -> int:
        """The id of the other process, once it has answered."""
        return self._messages.other

    def make(self, operations: Sequence[Operation]) -> list[TimedCall]:
        """Let the other process make calls, one after the other.

        Raises:
            GoneError: the other process has ended.
        """
        with self._asking:
            self._messages.send(encode(operations))
            return [decode(TimedCall, one) for one in self._messages.receive()]

    def begin_and_stop(self, operations: Sequence[Operation], longest_s: float) -> None:
        """Let the other process make calls, and stop this one until they are over, or for
        ``longest_s`` seconds.
        """
        self._messages.send({"made": encode(operations), "longest_s": longest_s})
        # To this thread: another one might stop the process a moment later.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        self._messages.send(_GOES_ON)

    def made_meanwhile(self) -> tuple[list[TimedCall], bool]:
        """Return the calls that were begun by :meth:`begin_and_stop`, and whether they were over
        before this process went on.

        Raises:
            GoneError: the other process has ended.
        """
        told = self._messages.receive()
        return [decode(TimedCall, one) for one in told["made"]], told["in_time"]

    def begun(self, operation: Operation) -> concurrent.futures.Future[list[TimedCall]]:
        """Have a call made, and do not wait for its answer."""
        made: concurrent.futures.Future[list[TimedCall]] = concurrent.futures.Future()

        def ask() -> None:
            try:
                made.set_result(self.make([operation]))
            except GoneError as error:
                made.set_exception(error)

        threading.Thread(target=ask, name="asks for a change", daemon=True).start()
        return made


def make_changes(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Make the calls that the process of the reads asks for, until that process is done."""
    return answer_all(arguments, _making)


@contextmanager
def _making(scene: ScenePart, saver: Any, messages: Messages) -> Iterator[Answer]:
    def made(asked: Any) -> Any:
        scene.alone(saver, ELSEWHERE, operations_in(asked))
        return encode(scene.callers.pop().events)

    def make(asked: Any) -> None:
        if asked == _GOES_ON:
            return
        if isinstance(asked, list):
            messages.send(made(asked))
            return
        with _let_go_on(messages, asked["longest_s"]) as over:
            answer = made(asked["made"])
            in_time = over()
        messages.send({"made": answer, "in_time": in_time})

    yield make


@contextmanager
def _let_go_on(messages: Messages, longest_s: float) -> Iterator[Callable[[], bool]]:
    """Yield a function that lets the other process, which is about to stop, go on. Without a call,
    it is let go on after ``longest_s`` seconds; the function returns whether it came before that.
    """
    over, late = threading.Event(), threading.Event()

    def wake() -> None:
        if not over.wait(longest_s):
            late.set()
        # Signal repeatedly: the process may have announced its stop, and not have stopped yet.
        while not messages.has_come() and not messages.are_over():
            with suppress(ProcessLookupError):
                os.kill(messages.other, signal.SIGCONT)
            time.sleep(_NAP_S)

    def is_over() -> bool:
        over.set()
        return not late.is_set()

    waking = threading.Thread(target=wake, name="lets the other process go on", daemon=True)
    waking.start()
    try:
        yield is_over
    finally:
        over.set()
        waking.join()
