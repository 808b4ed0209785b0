"""Runs in the processes of iterations: other calls are made between two items of a listing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any

from saverproof.errors import describe
from saverproof.families.concurrency.callers.calling import Caller
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import PLACES, Operation, OperationKind
from saverproof.families.concurrency.callers.watching import (
    PATIENCE_S,
    Standstill,
    await_end,
    position_of,
)
from saverproof.programs.steps.codec import encode
from saverproof.savers.execution.view import contents_of
from saverproof_faults.kill import Acks


class By(StrEnum):
    """The caller that makes calls between two items, and whether the listing is continued."""

    OTHER = "another one"
    SAME = "the one that lists"
    LEFT = "another one, the listing left for good"


LISTED = 0
NEXT = 50
PREPARED = (
    *(Operation(OperationKind.PUT, LISTED, number, tag=1_000 + number) for number in range(1, 8)),
    Operation(OperationKind.WRITES, LISTED, 6, 1_020, 3, 2),
    Operation(OperationKind.PUT, 1, 1, tag=1_008),
    Operation(OperationKind.PUT, 2, 1, tag=1_009),
)
BETWEEN = (
    Operation(OperationKind.GET, LISTED, 2),
    Operation(OperationKind.LATEST, LISTED),
    Operation(OperationKind.LIST, LISTED),
    Operation(OperationKind.WRITES, LISTED, 6, 1_021, 4, 2),
    Operation(OperationKind.PUT, LISTED, NEXT, tag=1_010),
    Operation(OperationKind.PUT, 3, 1, tag=1_011),
    Operation(OperationKind.DELETE, 2),
)
"""The calls between the items: reads, writes to the listed thread in a new namespace, and the
deletion of another thread.
"""


def call_between(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List a thread and make calls between the items.

    Return "calls": each operation and what it raised, or None; "there": the checkpoints that were
    there before the listing; "listed": those that the listing gave, as far as it was continued. If
    a call never returned: "standstill"; "operation", the call; "listing", where the listing stood;
    "released", whether the call returned once the listing had been closed.
    """
    scene = ScenePart({**arguments, "schedule": {"seed": "", "switch_s": 0.005}})
    play = Iterating(scene, By(arguments["by"]), frozenset(arguments["operations"]))
    stage = threading.Thread(target=play.guarded, name="the one that lists", daemon=True)
    stage.start()
    still = await_end(stage, scene.progress, scene.loop, PATIENCE_S)
    return {
        "calls": list(play.calls),
        "there": play.there,
        "listed": list(play.listed),
        "trouble": play.trouble,
        "operation": play.under_way,
        "standstill": encode(still),
        "listing": "" if still is None else position_of(play.listing),
        "released": None if still is None else play.released(stage, still),
    }


class Iterating:
    """One listing and the calls between its items."""

    def __init__(self, scene: ScenePart, by: By, operations: frozenset[str]) -> None:
        self.scene = scene
        self.by = by
        self.calls: list[list[Any]] = []
        self.trouble: str | None = None
        self.under_way = "opening the saver"
        self.listing: Any = None
        self.there: list[list[str]] = []
        self.listed: list[list[str]] = []
        self._between = [one for one in BETWEEN if method_of(one) in operations]
        self._give_up = threading.Event()

    def guarded(self) -> None:
        """Go through the listing. An error that does not come from the listing is kept as
        trouble.
        """
        try:
            with self.scene.saver() as saver:
                self.scene.prepare(saver, PREPARED)
                caller = self.scene.caller(saver, 0)
                if self.scene.api == "sync":
                    self._sync(saver, caller)
                else:
                    self.scene.loop.run(self._async(saver, caller))
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            self.trouble = describe(error)

    # --- sync ------------------------------------------------------------------------------

    def _sync(self, saver: Any, caller: Caller) -> None:
        with suppress(Exception):
            self.there = [*map(_named, saver.list(self._listed()))]
        self.listing = iter(saver.list(self._listed()))
        with self._next():
            self._take(next(self.listing, None))
        for operation in self._between:
            self._begin(operation)
            if self.by is By.SAME:
                caller.call(operation)
            else:
                self._beside(caller, operation)
            self._end(operation, caller)
            if self._give_up.is_set():
                self.listing.close()
                return
            if self.by is not By.LEFT:
                with self._next():
                    self._take(next(self.listing, None))
        if self.by is not By.LEFT:
            with self._next():
                for found in self.listing:
                    self._take(found)

    def _beside(self, caller: Caller, operation: Operation) -> None:
        other = threading.Thread(
            target=caller.call, args=(operation,), name="the other one", daemon=True
        )
        other.start()
        while other.is_alive() and not self._give_up.is_set():
            other.join(0.05)
        if self._give_up.is_set():
            # Find out whether the call is answered once the listing is closed.
            self.listing.close()
            other.join()

    # --- async -----------------------------------------------------------------------------

    async def _async(self, saver: Any, caller: Caller) -> None:
        with suppress(Exception):
            self.there = [_named(found) async for found in saver.alist(self._listed())]
        self.listing = aiter(saver.alist(self._listed()))
        with self._next():
            self._take(await anext(self.listing, None))
        for operation in self._between:
            self._begin(operation)
            if self.by is By.SAME:
                await caller.await_call(operation)
            else:
                await self._await_beside(caller, operation)
            self._end(operation, caller)
            if self._give_up.is_set():
                return
            if self.by is not By.LEFT:
                with self._next():
                    self._take(await anext(self.listing, None))
        if self.by is not By.LEFT:
            with self._next():
                async for found in self.listing:
                    self._take(found)

    async def _await_beside(self, caller: Caller, operation: Operation) -> None:
        other = asyncio.create_task(caller.await_call(operation), name="the other one")
        while not other.done() and not self._give_up.is_set():
            await asyncio.wait([other], timeout=0.05)
        if self._give_up.is_set():
            await self.listing.aclose()
            await other

    # --- both ------------------------------------------------------------------------------

    def _listed(self) -> Any:
        config = {"configurable": {"thread_id": PLACES[LISTED][0]}}
        return self.scene.ids.config(config) if self.scene.ids else config

    def _take(self, found: Any) -> None:
        """Keep which checkpoint the listing gave, if it gave one."""
        if found is not None:
            self.listed.append(_named(found))

    def _begin(self, operation: Operation) -> None:
        self.under_way = operation.describe()

    def _end(self, operation: Operation, caller: Caller) -> None:
        self.calls.append([operation.describe(), caller.events[-1].error])

    @contextmanager
    def _next(self) -> Iterator[None]:
        """Ask for the next item of the listing, or for all that are left."""
        self.under_way, raised = "the next item", None
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            raised = describe(error)
        self.calls.append(["the next item", raised])
        self.scene.progress.tick()

    def released(self, stage: threading.Thread, still: Standstill) -> bool | None:
        """Close the listing from outside the call that hangs. Return whether that call returned
        then.

        Return None if no call hangs, or if the listing cannot be closed, because the call that
        hangs is in the listing's own thread or task.
        """
        if self.by is By.SAME or not still.hung:
            return None
        before = len(self.calls)
        self._give_up.set()
        await_end(stage, self.scene.progress, self.scene.loop, PATIENCE_S)
        return len(self.calls) > before


def _named(found: Any) -> list[str]:
    """Return the namespace and the id of a checkpoint."""
    return [*contents_of(found)[0][1:]]


def method_of(operation: Operation) -> str:
    """Return the name of the saver's method for an operation, as the facts of the saver have it."""
    return operation.kind.value.partition(",")[0]
