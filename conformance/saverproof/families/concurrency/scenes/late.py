"""Runs in a process in which a run goes on writing to its thread after the thread was deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.concurrency.callers.child import AFTER, BEFORE, ScenePart, operations_in
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.programs.steps.codec import encode
from saverproof_faults.kill import Acks


def write(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Make the calls of one caller before and after the deletion, and look at what is left."""
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})

    def play() -> None:
        with scene.saver() as saver:
            scene.alone(saver, BEFORE, operations_in(arguments["before"]))
            scene.alone(saver, 0, operations_in(arguments["callers"][0]))
            scene.alone(saver, AFTER, operations_in(arguments["after"]))

    return scene.played(play)
