"""Compares the answers of the sync and the async API of a saver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import field
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.reads import alike
from saverproof.programs.model.records import Address
from saverproof.programs.steps.definitions import Step
from saverproof.savers.execution.calls import read_config
from saverproof.scripts.call_source import APIS
from saverproof.scripts.complaints import complain, guarded, unequal
from saverproof.scripts.statements import write_steps
from saverproof.scripts.writer import ScriptWriter


def compare_apis(context: Context) -> None:
    """Read everything that is known through both APIs, and compare the answers."""
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
    """A question that is asked through both APIs."""

    __slots__ = ()

    @abstractmethod
    def asked(self, writer: ScriptWriter, api: str) -> str:
        """Return an expression for the answer to the question through one API."""

    def show(self, writer: ScriptWriter, last: Step, difference: Difference) -> None:
        """Write the last step and the question, and a check that both APIs answer alike."""
        write_steps(writer, (last,))
        writer.helpers.add("shown")
        first, second = difference.expected, difference.observed
        asked = [self.asked(writer, api) for api in APIS]
        for answer, raising, other in ((second, asked[1], asked[0]), (first, asked[0], asked[1])):
            if isinstance(answer, Raised):
                writer.say(other)
                guarded(writer, [raising], "the answer of the other API", answer.error)
                return
        writer.say(f"expected = {asked[0]}", f"observed = {asked[1]}")
        complain(writer, unequal(first, second))


@dataclass(slots=True)
class BothRead(_Both):
    """A read of one checkpoint through both APIs."""

    address: Address

    def asked(self, writer: ScriptWriter, api: str) -> str:
        return f"shown({writer.api_call(api, 'get_tuple', writer.at(self.address))})"


@dataclass(slots=True)
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
