"""Writes standalone scripts of at most forty lines that show what a failing operation leaves
behind.
"""

from __future__ import annotations

from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults import plain_faults
from saverproof.families.atomicity.scripts.script_faults_below import COVERING, COVERING_BESIDE
from saverproof.families.atomicity.sweeps.record import Found
from saverproof.families.atomicity.verdicts import CANCELLED, LOST_CONNECTION, SILENT, USABLE
from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import CopyThread
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import LONGEST, complaint, main, script
from saverproof.scripts.source import quoted
from saverproof.scripts.statements import NoScriptError, lines_of, other_thread
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import ScriptWriter

_MOST_TRIED = 4
_ANSWERS_WITHIN_S = 6
"""Seconds after which a script takes a saver to hang that answers in milliseconds. SQLite's own
time-out, five seconds, is over by then, so that its error is told instead.
"""
_WIDEST = 70
"""The widest expression, in characters, that opens the saver and may stand in the script twice."""


def reproducer(target: Target, found: Found, api: str, statement: str) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    scenario, injection = found.sweep.scenario, found.injection
    if opening is None or injection is None:
        return ""
    calls = CallSource(api, opening.managed)
    methods = saver_methods(target, (scenario.step,), calls)
    database = database_of(found)
    promise = f"{found.verdict.contract}: {statement}"
    faults = [*plain_faults(injection, found.sweep.counted.places, database, scenario.step)]
    # What the thread's own listing does not show, one over all threads may, where no other is used.
    torn = found.verdict.outcome == "torn"
    for body_class in (_Body, _BodyOverAllThreads) if torn else (_Body,):
        texts: list[str] = []
        for fault in faults:
            writer = ScriptWriter(calls, methods)
            if len(opening.expression) > _WIDEST:
                writer.helpers.add("opened")
            try:
                lines = body_class(writer, opening, found, fault, target).lines()
            except (NoScriptError, KeyError):
                return ""
            texts.append(under_fault(fault, lines, writer, opening, promise, target))
        # The plainest fault comes first, and a short script before any that is not.
        texts.sort(key=lambda text: text.count("\n") > LONGEST)
        if text := first_to_complain(texts[:_MOST_TRIED], found.contract):
            return text
    return ""


def under_fault(
    fault: PlainFault,
    lines: list[str],
    writer: ScriptWriter,
    opening: Opening,
    promise: str,
    target: Target,
) -> str:
    """Return the source of a whole script: the fault stands at its top, ``lines`` use the saver."""
    body = main(opening.in_folder(lines), coroutine=writer.calls.in_coroutine)
    body = [*top_of(fault, opening), *helpers(writer, opening), *body]
    return script(promise, target.name, opening, body, writer.imports)


def database_of(found: Found) -> str:
    """Return the file of the store's first database; "" if the store has no database."""
    return next(iter(found.sweep.store.databases), "")


def top_of(fault: PlainFault, opening: Opening) -> tuple[str, ...]:
    """Return the lines at the top of the script."""
    covering = COVERING_BESIDE if opening.server else COVERING
    return tuple(covering if line == COVERING else line for line in fault.top)


class _Body:
    """The lines of a script in which the saver is used."""

    def __init__(
        self,
        writer: ScriptWriter,
        opening: Opening,
        found: Found,
        fault: PlainFault,
        target: Target,
    ) -> None:
        self.writer, self.opening, self.fault = writer, opening, fault
        self.database, self.durable = database_of(found), target.durable
        self.scenario, self.verdict = found.sweep.scenario, found.verdict

    def lines(self) -> list[str]:
        """Return the lines of the script.

        Raises:
            NoScriptError: there are no statements for one of the steps.
        """
        first = [line for step in self.scenario.start for line in lines_of(step, self.writer)]
        if self.scenario.is_setup:
            return self._opening_fails(first)
        if self.scenario.closed:
            return self._fails_later(first)
        return self._operation_fails(first)

    def _operation_fails(self, first: list[str]) -> list[str]:
        fault, contract, outcome = self.fault, self.verdict.contract, self.verdict.outcome
        listing = self._changed()
        ready, call, operation = self._operation()
        unusable = contract in (USABLE, LOST_CONNECTION)
        used = unusable or (contract == CANCELLED and outcome != "torn")
        # Work that a saver puts off until its first use must not fail instead of the operation.
        noted = [listing] if unusable else [f"before, failed = {listing}, True"]
        if fault.raises:
            # A mended saver may return where this one failed, and fail where this one returned.
            judged = [] if unusable else ["failed = False"]
            operation = [
                f"with contextlib.suppress({fault.error}):",
                *indented([*operation, *judged]),
            ]
        first += [*ready, *noted]
        first += [*fault.before, *operation, *fault.after]
        if used:
            seen = self._used(listing)
            seen = answered_in_time(seen) if contract == CANCELLED else seen
            return self._opened([*first, *working(seen)])
        if outcome in ("late", "stuck"):
            first += other_thread(self.writer)
        then = [f"after = {listing}"]
        wrong = "after == before" if contract == SILENT else "after != before"
        if fault.raises:
            wrong = f"{'not failed' if contract == SILENT else 'failed'} and {wrong}"
        by_thread = self.scenario.thread_by_thread
        if contract != SILENT and (by_thread or contract == CANCELLED or fault.may_store):
            then = [*(working(then) if fault.may_store else then), call, f"whole = {listing}"]
            wrong = "after not in (before, whole)"
            if by_thread:
                wrong = "any(seen not in (b, w) for seen, b, w in zip(after, before, whole))"
        then += self._complaint(wrong)
        # A saver that keeps nothing shows nothing to another one, whether it is right or wrong.
        again = self.durable
        return [*self._opened(first), *self._opened(then)] if again else self._opened(first + then)

    def _fails_later(self, first: list[str]) -> list[str]:
        """Return lines that make the call and close the saver under the fault. What is told by
        either is no loss.
        """
        listing = self._changed()
        ready, _, operation = self._operation()
        under = self._opened([*ready, f"before = {listing}", *self.fault.before, *operation])
        return [
            *(self._opened(first) if first else []),
            "told = True",
            "with contextlib.suppress(Exception):",
            *indented([*under, "told = False"]),
            *self.fault.after,
            *self._opened([f"after = {listing}", *self._complaint("not told and after == before")]),
        ]

    def _operation(self) -> tuple[list[str], str, list[str]]:
        """Return the lines before the operation, its plain call, and its call under the fault."""
        *ready, call = lines_of(self.scenario.step, self.writer)
        coroutine = call.removeprefix("await ")
        return (
            ready,
            call,
            [line.format(call=call, coroutine=coroutine) for line in self.fault.call],
        )

    def _changed(self) -> str:
        """Return the listing in which the operation shows."""
        step = self.scenario.step
        if self.scenario.thread_by_thread:
            threads = dict.fromkeys(put.thread for put in self.scenario.puts)
            return f"[{', '.join(map(self._listing, threads))}]"
        return self._listing(step.target if isinstance(step, CopyThread) else THREAD)

    def _opening_fails(self, first: list[str]) -> list[str]:
        """Return lines that try in vain to open the saver. Before that they make the store, if it
        is to exist already.
        """
        listing = self._listing(THREAD)
        unusable = self.verdict.contract in (USABLE, LOST_CONNECTION)
        noted = [] if unusable else [f"before = {listing}"]
        then = [f"after = {listing}", *self._complaint("after != before")]
        setup = self.writer.methods.setup
        return [
            *(self._opened([*first, *noted]) if first or noted else []),
            *self.fault.before,
            "with contextlib.suppress(Exception):",
            *indented(self._opened([*([setup] if setup else []), listing])),
            *self.fault.after,
            *(working(self._opened(self._used(listing))) if unusable else self._opened(then)),
        ]

    def _opened(self, lines: list[str]) -> list[str]:
        expression = "opened(path)" if "opened" in self.writer.helpers else ""
        return self.opening.opened(lines, expression=expression)

    def _listing(self, thread: str) -> str:
        return self.writer.listing(self.writer.config(thread, ""))

    def _complaint(self, wrong: str) -> list[str]:
        shown = "for thread in after for found in thread"
        shown = shown if self.scenario.thread_by_thread else "for found in after"
        return [
            f"if {wrong}:",
            f"    writes = [len(found.pending_writes or ()) {shown}]",
            '    raise SystemExit(f"{__doc__}\\nobserved: checkpoints with '
            '{writes} pending writes")',
        ]

    def _used(self, listing: str) -> list[str]:
        """Return lines that read, let another connection commit, and write."""
        other = other_commits(self.database)
        # A read may end the transaction that a cancelled call has left open.
        seen = [*other, listing] if self.verdict.contract == CANCELLED else [listing, *other]
        return [*seen, *other_thread(self.writer)]


class _BodyOverAllThreads(_Body):
    """Lines of a script that lists all threads at once."""

    def _listing(self, thread: str) -> str:
        return self.writer.listing("None")


def answered_in_time(lines: list[str]) -> list[str]:
    """Return the lines within a time-out: they await a saver that may hang."""
    return [f"async with asyncio.timeout({_ANSWERS_WITHIN_S}):", *indented(lines)]


def working(lines: list[str]) -> list[str]:
    """Return lines that complain if these lines raise."""
    failed = f"    {complaint('no error', '{error!r}')} from error"
    return ["try:", *indented(lines), "except Exception as error:", failed]


def other_commits(database: str) -> list[str]:
    """Return lines in which another connection commits. They raise if a lock was left."""
    if not database:
        return []
    path = f"path + {quoted('/' + database)}"
    return [
        f"with contextlib.closing(sqlite3.connect({path}, timeout=0)) as other:",
        '    other.execute("PRAGMA user_version = 1")',
    ]
