"""Holds the two APIs of a saver against each other, and sync calls against an event loop."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from saverproof.errors import OpeningError
from saverproof.execution.calls import put_call, put_writes_call, read_config
from saverproof.execution.store import Store
from saverproof.execution.versions import versions_of
from saverproof.judging import facts
from saverproof.judging.answers import field
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.reads import alike
from saverproof.model.records import Address
from saverproof.model.store import Model
from saverproof.process import heartbeat
from saverproof.process.standstill import ends
from saverproof.scripts.call_source import APIS
from saverproof.scripts.complaints import complain, guarded, unequal
from saverproof.scripts.statements import write_steps
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps.definitions import CallOnLoop, Put, PutWrites, Step
from saverproof.targets.event_loop import EventLoop
from saverproof.values import Value

PATIENCE_S = 5.0
"""How long nothing may move before a call counts as one that waits for itself."""
_AT_MOST = 6
"""How many times as long one is waited for that is at work."""


def compare_apis(context: Context) -> None:
    """Ask for everything that is known through both APIs; both must answer alike."""
    model = context.model
    for address in [*model.addresses(), *model.gone]:
        config = read_config(address, context.real(address[0]))
        first, second = (
            context.attempt(partial(driver.get_tuple, config)) for driver in context.store.drivers
        )
        log, what = context.facts.by(BothRead(address)), f"get_tuple of checkpoint {address[2]}"
        log.judge(alike(first, second), facts.SAME_ANSWERS, None, first, second, detail=what)
    for thread in model.threads:
        config = {"configurable": {"thread_id": context.real(thread)}}
        first, second = (
            context.attempt(partial(driver.list_tuples, config, {}))
            for driver in context.store.drivers
        )
        log, what = context.facts.by(BothList(thread)), f"list of thread {thread!r}"
        log.judge(_alike_lists(first, second), facts.SAME_ANSWERS, None, first, second, detail=what)


class _Both(ABC):
    """The same question through both APIs."""

    __slots__ = ()

    @abstractmethod
    def asked(self, writer: ScriptWriter, api: str) -> str:
        """The question through one API, as an expression that shows its answer."""

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the last step and the question, which the second API answers otherwise."""
        write_steps(writer, (last,))
        writer.helpers.add("shown")
        first, second = difference.expected, difference.observed
        asked = [self.asked(writer, api) for api in APIS]
        if isinstance(second, Raised):
            writer.say(asked[0])
            guarded(writer, [asked[1]], "the answer of the other API", second.error)
            return
        writer.say(f"expected = {asked[0]}", f"observed = {asked[1]}")
        raised = isinstance(first, Raised)
        complain(writer, "observed != expected" if raised else unequal(first, second))


@dataclass(frozen=True, slots=True)
class BothRead(_Both):
    """A read of one checkpoint through both APIs."""

    address: Address

    def asked(self, writer: ScriptWriter, api: str) -> str:
        return f"shown({writer.api_call(api, 'get_tuple', writer.at(self.address))})"


@dataclass(frozen=True, slots=True)
class BothList(_Both):
    """A listing of one thread through both APIs."""

    thread: str

    def asked(self, writer: ScriptWriter, api: str) -> str:
        return writer.api_listing(api, writer.config(self.thread), item="shown(found)")


def _alike_lists(left: Any, right: Any) -> bool:
    if isinstance(left, Raised) or isinstance(right, Raised):
        return isinstance(left, Raised) and isinstance(right, Raised)
    return (
        len(left) == len(right)
        and [field(item, "config") for item in left] == [field(item, "config") for item in right]
        and all(map(alike, left, right))
    )


def take_call_on_loop(step: CallOnLoop, context: Context) -> None:
    """A sync call on the event loop's own thread answers or raises; it must not wait for itself."""
    fact = facts.WRITE_HANG if step.operation in ("put", "put_writes") else facts.HANG
    outcome: list[Raised | None] = []
    worker = threading.Thread(
        target=lambda: outcome.append(_call_on_loop(context, step)), daemon=True
    )
    over = ends(
        worker, PATIENCE_S, _AT_MOST * PATIENCE_S, lambda: heartbeat.beat(len(context.taken))
    )
    if over is None:
        # At work for so long: nothing is known of it.
        return
    if not over:
        expected = f"{step.operation} to answer or raise"
        context.facts.differ(fact, None, expected, f"no answer within {PATIENCE_S:g} s")
    elif outcome[0] is None:
        context.facts.agree(fact)
    elif isinstance(outcome[0].error, OpeningError):
        context.facts.differ(facts.RAISED, None, "a second workspace", outcome[0])
    else:
        context.facts.differ(facts.VERSION_RAISED, None, "a version", outcome[0])


def _call_on_loop(context: Context, step: CallOnLoop) -> Raised | None:
    """Open a store on a loop of its own and call the saver there; why it did not come to that."""
    own = context.store

    async def on_the_loop(call: Callable[[], Any]) -> None:
        with suppress(Exception):  # to raise is a right answer here
            call()

    try:
        with EventLoop() as loop, Store(own.target, own.folder, loop, ("sync",)) as store:
            loop.run(on_the_loop(_prepared(store, step)))
    except Exception as error:  # noqa: BLE001 - a saver may raise anything
        return Raised(error)
    return None


def _prepared(store: Store, step: CallOnLoop) -> Callable[[], Any]:
    driver = store.drivers[0]
    config = read_config((step.thread, "", 1), step.thread)

    put = Put(step.thread, "", 1, changes=(("count", Value("integer", 1)),))
    made = put_call(put, Model().plan_put(put, versions_of(store.saver)), step.thread)
    batch = put_writes_call(
        PutWrites(step.thread, "", 1, 1, (("count", Value("integer", 1)),)), step.thread
    )
    calls: dict[str, Callable[[], Any]] = {
        "get_tuple": lambda: driver.get_tuple(config),
        "list": lambda: driver.list_tuples(config, {}),
        "delete_thread": lambda: driver.invoke("delete_thread", step.thread),
        "put": lambda: driver.put(made),
        "put_writes": lambda: driver.put_writes(batch),
    }
    return calls[step.operation]
