"""Writes standalone scripts of a saver that is used after some of its reads were cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import ClassVar

from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.scripts.scripting import answered_in_time, other_commits, working
from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Put,
    Step,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.calling import BETWEEN_ITEMS
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.statements import NoScriptError, lines_of, other_thread
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import ScriptWriter
from saverproof_faults import Fault, Moment, Plan
from saverproof_faults.standalone.cancellation import passing

_PLAIN: Program = (Put(THREAD, "", 1, changes=(("count", Value("integer", 1)),)),)
"""What is stored in the shortest scripts."""


Reads = list[tuple[Step, Plan | None]]
"""Reads, and where each of them is cancelled, if it is."""


def reproducer(target: Target, violation: ProgramViolation, api: str) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did, or
    if other calls than reads were cancelled, or failed in another way.
    """
    opening, program = opening_of(target), violation.program
    first = min(violation.faults, default=len(program))
    reads: Reads = [
        (program[at], violation.faults[at].plan if at in violation.faults else None)
        for at in range(first, len(program))
    ]
    if opening is None or not reads or not all(_is_cancelled(*one) for one in reads):
        return ""
    contract = str(violation.verdict.contract)
    database = next(iter(violation.databases), "")
    between = all(plan is None or plan.about == BETWEEN_ITEMS for _, plan in reads)
    texts: list[str] = []
    shortest = (_Left, _PLAIN) if between else (_AtFirst, ())
    for way, start in (shortest, *product((_Body,), (_PLAIN, program[:first]))):
        calls = CallSource(api, opening.managed)
        writer = ScriptWriter(calls, saver_methods(target, start, calls))
        body = way(writer, start, reads, database)
        try:
            lines = opening.in_folder(opening.opened(body.lines()))
        except (NoScriptError, KeyError):
            return ""
        lines = [*way.top, *helpers(writer, opening), *main(lines, coroutine=True)]
        texts.append(script(promise_of(contract), target.name, opening, lines, writer.imports))
    return first_to_complain(texts, contract)


def _is_cancelled(step: Step, plan: Plan | None) -> bool:
    """Return whether a step is a read that nothing but a cancellation strikes."""
    cancelled = plan is None or plan.fault is Fault.CANCEL
    return isinstance(step, GetTuple | ListTuples | DeltaHistory) and cancelled


@dataclass(slots=True)
class _Body:
    """The lines that use the saver: reads are cancelled each at its wait, and afterwards the saver
    must show what it has shown before.
    """

    writer: ScriptWriter
    start: Program
    reads: Reads
    database: str
    top: ClassVar[Sequence[str]] = (
        *passing("self.at == (self.steps, False)", "self.at == (self.steps, True)").splitlines(),
        "async def listed(listing):",
        "    async with contextlib.aclosing(listing):",
        "        async for _ in listing:",
        "            await asyncio.sleep(0)",
        "async def cancelled(coroutine, *at):",
        "    steps = Steps(coroutine)",
        "    steps.at = at",
        "    async def call(): return await steps",
        "    await asyncio.gather(call(), return_exceptions=True)",
    )
    settling: ClassVar[Sequence[str]] = (
        "await asyncio.sleep(0.3)  # for work that was handed to a thread",
    )

    def lines(self) -> list[str]:
        """Return the lines.

        Raises:
            NoScriptError: a step has no statements for a script.
        """
        started = [line for step in self.start for line in lines_of(step, self.writer)]
        return [*started, *self._used(self._listing())]

    def _used(self, listing: str) -> list[str]:
        return [
            f"before = {listing}",
            *self._working(f"after = {listing}"),
            "if after != before:",
            f"    {complaint('{before!r:.300}', '{after!r:.300}')}",
        ]

    def _working(self, read: str) -> list[str]:
        """Return the lines of the reads, and of a use of the saver, which must not raise."""
        others = dict.fromkeys(step for step, _ in self.reads if not isinstance(step, ListTuples))
        used = [
            *self.settling,
            *other_commits(self.database),
            *(line for step in others for line in lines_of(step, self.writer)),
            read,
            *other_thread(self.writer),
        ]
        return working(answered_in_time([*self._cancelling(), *used]))

    def _listing(self) -> str:
        threads = (getattr(step, "thread", None) for step, _ in self.reads)
        return self.writer.listing(self.writer.config(next(filter(None, threads), THREAD)))

    def _cancelling(self) -> Iterator[str]:
        """Yield the lines of the reads. Equal ones in a row stand in a loop."""
        for call, several in groupby(self._call(*one) for one in self.reads):
            if (times := len([*several])) > 1:
                yield f"for _ in range({times}):"
                yield f"    {call}"
            else:
                yield call

    def _call(self, read: Step, plan: Plan | None) -> str:
        (line,) = lines_of(read, self.writer)
        if plan is None:
            return line
        asked = line.removeprefix("await ")
        if isinstance(read, ListTuples):
            asked = f"saver.alist({', '.join(self.writer.list_arguments(read))})"
        return self._cancelled(asked, plan, listed=isinstance(read, ListTuples))

    def _cancelled(self, asked: str, plan: Plan, *, listed: bool) -> str:
        awaited = f"listed({asked})" if listed else asked
        return (
            f"await cancelled({awaited}, {plan.place.index}, {plan.place.moment is Moment.AFTER})"
        )


class _AtFirst(_Body):
    """The lines in which all reads are cancelled at their first wait, which mostly suffices for
    what is left open, and is short.
    """

    top = (
        "async def cancelled(read):  # where it waits for the first time",
        "    task = asyncio.ensure_future(read)",
        "    await asyncio.sleep(0)",
        "    task.cancel()",
        "    await asyncio.wait([task])",
    )

    def _used(self, listing: str) -> list[str]:
        return self._working(listing)

    def _cancelled(self, asked: str, plan: Plan, *, listed: bool) -> str:
        return f"await cancelled({f'anext({asked})' if listed else asked})"


class _Left(_Body):
    """The lines in which all consumers of listings are cancelled after their first item.

    That suffices for what is left open there, and is short. Nothing goes on once they have closed
    their listing.
    """

    top = (
        "async def left(listing):  # by a consumer that is cancelled between two items",
        "    async with contextlib.aclosing(listing):",
        "        async for _ in listing:",
        "            asyncio.current_task().cancel()",
        "            await asyncio.sleep(0)",
    )
    settling = ()

    def _used(self, listing: str) -> list[str]:
        return self._working(listing)

    def _cancelled(self, asked: str, plan: Plan, *, listed: bool) -> str:
        return f"await asyncio.gather(left({asked}), return_exceptions=True)"
