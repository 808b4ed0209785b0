"""Lets another process call operations on whole threads, and holds them, while graphs run in this
process.
"""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.families.concurrency.callers.answering import HERE, Answer, answer_all
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.messages import GoneError, Messages
from saverproof.families.concurrency.graphs.graph_upkeep import Call
from saverproof.families.concurrency.graphs.held_calls import HeldCalls, Write
from saverproof.families.concurrency.held.holding import MARGIN_ELSEWHERE, HoldPoint, Probing
from saverproof.families.concurrency.held.locks_seen import LockLooks
from saverproof.programs.steps.codec import decode, encode
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof_faults.kill import Acks

_NAP_S = 0.05
"""Seconds between two signs of life while a write waits: else the watch would take the waiting
write for a hang.
"""
_COME, _GO_ON, _WRITE, _WRITTEN, _FOUND = "come", "go on", "write", "written", "found"


# --- who asks for them ---------------------------------------------------------------------------


@dataclass(slots=True)
class CallsElsewhere:
    """Lets the other process call its saver, one call at a time.

    ``own`` makes the writes of this process beside those calls. ``raised`` lists what the calls
    raised.
    """

    own: HeldCalls
    _messages: Messages
    raised: list[str] = field(default_factory=list)

    @classmethod
    @contextmanager
    def of(cls, own: HeldCalls, meeting: Path) -> Iterator[CallsElsewhere]:
        """Meet the other process, which may end when the block is left."""
        with Meeting(meeting, HERE, 2) as met:
            yield cls(own, Messages(met, meeting, HERE, own.scene.progress.tick))

    def hold(self, call: Call, place: HoldPoint | None) -> HeldElsewhere:
        """Have a call begun in the other process. Return once it stands still at a place, or is
        over.
        """
        self._messages.send({"call": call, "place": encode(place)})
        self._messages.receive()
        return HeldElsewhere(self._messages, self.raised)

    def free_places(self, call: Call, write: Write, most: int) -> list[HoldPoint]:
        """Return places at which the call can be held while a write of this process is answered."""
        self._messages.send({"call": call, "most": most})
        while (said := self._messages.receive())["said"] == _WRITE:
            written = self.own.begun(write)
            while not concurrent.futures.wait([written], _NAP_S).done:
                # The call may block it at one place after another. That is no hang.
                self.own.scene.progress.tick()
            self._messages.send(_WRITTEN)
        return [decode(HoldPoint, one) for one in said["places"]]


@dataclass(slots=True)
class HeldElsewhere:
    """A call in the other process.

    ``overtaken`` is known once the call has ended. It says whether everything that was done beside
    the call was over before the call went on.
    """

    _messages: Messages
    _raised: list[str]
    overtaken: bool = False

    def let_go(self) -> bool:
        """Let the call go on and wait for its end. Return whether it returned."""
        self._messages.send(_GO_ON)
        over = self._messages.receive()
        self._raised += over["raised"]
        self.overtaken = over["overtaken"]
        returned: bool = over["returned"]
        return returned


# --- who makes them ------------------------------------------------------------------------------


def make_calls(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Make the calls that the process of the graphs asks for, until that process is done."""
    return answer_all(arguments, _making)


@contextmanager
def _making(scene: ScenePart, saver: Any, messages: Messages) -> Iterator[Answer]:
    with HeldCalls.of(scene, saver) as held:
        yield _Answering(scene, held, messages).answer


@dataclass(slots=True)
class _Answering:
    """Answers what the process of the graphs asks for."""

    scene: ScenePart
    held: HeldCalls
    messages: Messages

    def answer(self, asked: Mapping[str, Any]) -> None:
        (given, named) = asked["call"]
        call = (tuple(given), named)
        if "most" in asked:
            places = self._places(call, asked["most"])
            self.messages.send({"said": _FOUND, "places": encode(places)})
            return
        known = len(self.held.raised)
        place = asked["place"] and decode(HoldPoint, asked["place"])
        held = self.held.hold(call, place, self.messages.other)
        self.messages.send(_COME)
        self.messages.receive()
        returned = held.let_go()
        over = {"returned": returned, "overtaken": held.overtaken}
        self.messages.send(over | {"raised": self.held.raised[known:]})

    def _places(self, call: Call, most: int) -> list[HoldPoint]:
        if files := list(sqlite_files(self.scene.workspace.path)):
            with LockLooks.of(files) as looks:
                return self.held.probed(call, looks, most)
        writer = self.messages.other
        return self.held.probed(call, Probing(self._written, MARGIN_ELSEWHERE, writer), most)

    def _written(self) -> concurrent.futures.Future[Any]:
        """Let the process of the graphs make a write: it does not know the locks of this
        process.
        """
        written: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def ask() -> None:
            try:
                self.messages.send({"said": _WRITE})
                written.set_result(self.messages.receive())
            except GoneError as error:
                written.set_exception(error)

        threading.Thread(target=ask, name="asks for a write", daemon=True).start()
        return written
