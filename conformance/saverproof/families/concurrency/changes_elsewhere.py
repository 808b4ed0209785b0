"""Has another process change a store while a read of it is held in this one."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.answering import ELSEWHERE, HERE, Answer, answer_all
from saverproof.families.concurrency.child import ScenePart, operations_in
from saverproof.families.concurrency.meeting import Meeting
from saverproof.families.concurrency.messages import GoneError, Messages
from saverproof.families.concurrency.records import Operation, TimedCall
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import Acks


@dataclass(frozen=True, slots=True)
class ChangesElsewhere:
    """Has the other process make calls, and tells what it was answered."""

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
        """Have calls made one after the other.

        Raises:
            GoneError: the other process has ended.
        """
        with self._asking:
            self._messages.send(encode(operations))
            return [decode(TimedCall, one) for one in self._messages.receive()]

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
    """Make the calls that the process of the reads asks for, until that one is done."""
    return answer_all(arguments, _making)


@contextmanager
def _making(scene: ScenePart, saver: Any, messages: Messages) -> Iterator[Answer]:
    def make(asked: Any) -> None:
        scene.alone(saver, ELSEWHERE, operations_in(asked))
        messages.send(encode(scene.callers.pop().events))

    yield make
