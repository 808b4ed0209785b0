"""Writes standalone scripts of two callers: one's call fails while the other's is under way.

They are longer than other scripts, since they need the driver, a fault in it and both callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults import faults_anywhere
from saverproof.families.atomicity.scripts.script_faults_of_drivers import failing_method, method_of
from saverproof.families.atomicity.scripts.script_faults_of_sqlite import (
    failing_commit,
    failing_statement,
)
from saverproof.families.atomicity.scripts.scripting import under_fault
from saverproof.families.atomicity.verdicts import CANCELLED, SILENT, WHOLE
from saverproof.programs.steps.definitions import Program, PutWrites
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import promise_of
from saverproof.scripts.statements import NoScriptError, lines_of
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import ScriptWriter
from saverproof_faults import Event, Fault, Places, Plan

_MOST_TRIED = 4
"""How many scripts are run at most: the plainest faults come first, and each run takes about a
second.
"""


@dataclass(frozen=True, slots=True)
class ScriptedMeeting:
    """The calls of two callers after a program, and the fault that strikes the first of them.

    ``places`` are those of the first call alone through the sync API, where the neighbour makes its
    whole call at the place of the fault. Through the async API they are those of both calls.
    """

    start: Program
    step: PutWrites
    neighbour: PutWrites
    plan: Plan
    places: Places
    database: str


def reproducer(target: Target, meeting: ScriptedMeeting, api: str, contract: str) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    if opening is None or contract not in (SILENT, WHOLE, CANCELLED):
        return ""
    texts: list[str] = []
    for fault in _faults(meeting, api):
        calls = CallSource(api, opening.managed)
        if api == "sync" and calls.in_coroutine:
            return ""
        writer = ScriptWriter(calls, saver_methods(target, (meeting.step,), calls))
        try:
            lines = _lines(writer, opening, meeting, fault, durable=target.durable)
        except (NoScriptError, KeyError):
            return ""
        texts.append(under_fault(fault, lines, writer, opening, promise_of(contract), target))
    return first_to_complain(texts[:_MOST_TRIED], contract)


def _faults(meeting: ScriptedMeeting, api: str) -> Iterator[PlainFault]:
    plan, places = meeting.plan, meeting.places
    if api != "sync":
        yield from faults_anywhere(Injection(plan), places, meeting.database)
    elif (call := method_of(plan, places)) is not None:
        yield from failing_method(plan, call, places, first="meet")
    elif plan.place.event is Event.COMMIT:
        yield failing_commit(plan, places, first="meet")
    elif plan.place.event is Event.STATEMENT:
        yield from failing_statement(plan, places, first="meet")


def _lines(
    writer: ScriptWriter,
    opening: Opening,
    meeting: ScriptedMeeting,
    fault: PlainFault,
    *,
    durable: bool,
) -> list[str]:
    """Return the lines in which the saver is used.

    Raises:
        NoScriptError: a step has no statements for a script.
    """
    one, other = meeting.step, meeting.neighbour
    listings = (writer.listing(writer.config(each.thread, "")) for each in (one, other))
    calls = writer.calls
    look = calls.function("look", "saver")
    met = [
        *(line for step in meeting.start for line in lines_of(step, writer)),
        f"{calls.define} look(saver):",
        f"    return [{', '.join(listings)}]",
        f"{calls.define} first(saver):",
        *indented([*lines_of(one, writer), "returned.append(0)"]),
        f"{calls.define} second(saver):",
        *indented([*lines_of(other, writer), "returned.append(1)"]),
        f"before, returned = {look}, []",
        *(_tasks if calls.in_coroutine else _threads)(meeting.plan, fault),
    ]
    judged = [
        f"after, told = {look}, {{*returned}}",
        calls.function("first", "saver"),
        calls.function("second", "saver"),
        f"for n, shown in enumerate({look}):",
        "    if after[n] != shown and (after[n] != before[n] or n in told):",
        "        counts = [len(found.pending_writes or ()) for found in after[n]]",
        '        raise SystemExit(f"{__doc__}\\nobserved: {told=} {n=}: {counts} pending writes")',
    ]
    if durable:
        return [*opening.opened(met), *opening.opened(judged)]
    return opening.opened([*met, *judged])


def _threads(_: Plan, fault: PlainFault) -> list[str]:
    return [
        "other = threading.Thread(target=second, args=[saver], daemon=True)",
        "meet = lambda: other.start() or other.join(1)  # it may wait for the first",
        *fault.before,
        f"with contextlib.suppress({fault.error}):",
        "    first(saver)",
        *fault.after,
        "other.join()",
    ]


def _tasks(plan: Plan, fault: PlainFault) -> list[str]:
    both = ["await asyncio.gather(first(saver), second(saver), return_exceptions=True)"]
    if plan.fault is Fault.CANCEL:
        both = [
            "other = asyncio.create_task(second(saver))",
            *(
                line.format(call="await first(saver)", coroutine="first(saver)")
                for line in fault.call
            ),
            "await asyncio.wait([other])",
        ]
    return [*fault.before, *both, *fault.after]
