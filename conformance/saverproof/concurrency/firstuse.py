"""What runs in the processes that race for a new store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from saverproof.concurrency.bodies import Scene, operations_in
from saverproof.concurrency.watching import watch
from saverproof.errors import describe
from saverproof_faults.kill import Acks

PATIENCE_S = 11.0
_IN_STEP_S = 0.02


def race(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Open a store that is not there yet, while others do, and use it at once.

    Gives "events", "opening" (what opening it raised, or None) and "standstill".
    """
    scene = Scene(arguments)
    scene.pauses.install()
    scene.pauses.on = True
    told: dict[str, Any] = {"opening": None}

    def guarded() -> None:
        # All of them meet again here, whatever starting took each.
        time.sleep(max(0.0, arguments["at"] - time.monotonic()))
        try:
            with scene.saver() as saver:
                number = arguments["caller"]
                scene.alone(saver, number, operations_in(arguments["callers"][number]))
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            told["opening"] = describe(error)

    still = watch(guarded, scene.progress, scene.loop, PATIENCE_S)
    events = [event.to_json() for caller in scene.callers for event in caller.events]
    return told | {"events": events, "standstill": None if still is None else still.to_json()}
