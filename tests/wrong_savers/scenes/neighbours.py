"""Fails one caller's batch while another caller stores a batch, and looks at what is left."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from tests.wrong_savers.scenes.failing import prepared, rows, watched
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening

FAILING, NEIGHBOUR = "t8", "t9"
BATCH = [("x", 1), ("y", 2)]
WHOLE = Counter({NEIGHBOUR: len(BATCH)})
"""What is left of both batches in a saver that keeps its callers apart."""
SECOND_ROW = 4
"""The statement of a batch that stores its second row, after two that begin."""
_WAIT_S = 0.3
"""How long the failing caller waits: one that is kept out is let in only when the other is done."""


def left_by_threads(saver: Any, folder: Path) -> Counter[str]:
    """Return how many rows of each batch are stored; the batches come from two threads."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    neighbour = threading.Thread(target=lambda: probe.write(2, BATCH, NEIGHBOUR))
    own, ran = threading.get_ident(), []

    def fail(statement: str) -> None:
        if threading.get_ident() != own:
            return
        ran.append(statement)
        if len(ran) == SECOND_ROW:
            neighbour.start()
            neighbour.join(_WAIT_S)
            raise sqlite3.OperationalError("disk I/O error")
        if statement == "ROLLBACK":
            neighbour.join(_WAIT_S)

    with watched(probe.saver, fail):
        probe.write(2, BATCH, FAILING)
        neighbour.join()
    return _left(probe)


def left_by_tasks(saver: Any, folder: Path) -> Counter[str]:
    """Return how many rows of each batch are stored; the batches come from two tasks of a loop."""
    probe = prepared(Probe(opening(saver), folder, "sync"))

    async def play() -> None:
        config = probe.config("a", "", 2)
        failing = asyncio.create_task(probe.saver.aput_writes(config, BATCH, FAILING, ""))
        neighbour = asyncio.create_task(probe.saver.aput_writes(config, BATCH, NEIGHBOUR, ""))
        ran = []

        def fail(statement: str) -> None:
            if asyncio.current_task() is failing:
                ran.append(statement)
                if len(ran) == SECOND_ROW:
                    raise sqlite3.OperationalError("disk I/O error")

        with watched(probe.saver, fail):
            await asyncio.gather(failing, neighbour, return_exceptions=True)

    asyncio.run(play())
    return _left(probe)


def _left(probe: Probe) -> Counter[str]:
    (_, writes), _ = rows(probe.path)
    probe.attempt(probe.saver.close)
    return Counter(row[3] for row in writes if row[3] in (FAILING, NEIGHBOUR))
