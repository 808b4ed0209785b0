"""Runs in the second of two processes that meet, and does what the first process asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.messages import GoneError, Messages
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.programs.steps.codec import encode

HERE, ELSEWHERE = 0, 1
"""The numbers of the two processes."""
Answer: TypeAlias = Callable[[Any], object]
"""A function that is called with each message from the first process."""
Answering: TypeAlias = Callable[[ScenePart, Any, Messages], AbstractContextManager[Answer]]
"""A function that makes an :data:`Answer` for a scene, its saver and its messages."""


def answer_all(arguments: Mapping[str, Any], answering: Answering) -> dict[str, Any]:
    """Open a saver, and answer what the first process asks, until that process is done."""
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    file = Path(arguments["meeting"])

    def play() -> None:
        with Meeting(file, ELSEWHERE, 2) as meeting:
            messages = Messages(meeting, file, ELSEWHERE, scene.progress.tick)
            try:
                # Not both at once: that is a race for a new store.
                asked = messages.receive()
                with scene.saver() as saver, answering(scene, saver, messages) as answer:
                    while True:
                        answer(asked)
                        asked = messages.receive()
            except GoneError:
                return

    return scene.played(play)
