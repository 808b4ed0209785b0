"""Writes standalone scripts of any program with faults; they are as long as the program.

The program runs twice, on a store of its own each time, the second time with its faults. After each
step the two runs must show the same. Only after a call that failed may the second run be one step
behind, until the call is made again: as a whole, or thread by thread if it is judged so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product

from saverproof.families.atomicity.programs.random_programs import WATCHED
from saverproof.families.atomicity.scenarios import OF_THREADS
from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.scripting import other_commits, top_of, working
from saverproof.families.atomicity.verdicts import CANCELLED, SILENT, WHOLE
from saverproof.programs.steps.definitions import DeleteThread, OwnStep, Program, Put
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.own_source import NO_SOURCES, OwnSources
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.statements import NoScriptError, lines_of
from saverproof.scripts.verification import complains_alone
from saverproof.scripts.writer import ScriptWriter

_MOST_TRIED = 4
_LATE_IN_PART = (
    "    late |= n in in_part and all(s in (b, a) for b, a, s in zip(before, after, seen))"
)


def long_reproducer(
    target: Target,
    program: Program,
    faults: Mapping[int, list[PlainFault]],
    contract: str,
    api: str,
    database: str = "",
    outage: Collection[int] = (),
    own: OwnSources = NO_SOURCES,
    *,
    closed: bool = False,
) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did.

    ``faults`` are ways to make the step at a position fail. ``database`` is the SQLite file of the
    store, if it has one. The steps at the positions of ``outage`` are made again only after all of
    them have failed. ``closed`` says that the flaw shows only once the saver was closed.
    """
    opening = opening_of(target)
    if opening is None or not all(faults.values()):
        return ""
    calls = CallSource(api, opening.managed)
    methods = replace(saver_methods(target, program, calls), own=own.functions)
    said = own.statements.get(contract, "")
    promise = f"{contract}: {said}" if said else promise_of(contract)
    for chosen in islice(_ways(list(faults.values())), _MOST_TRIED):
        writer = ScriptWriter(calls, methods)
        given = (writer, dict(zip(faults, chosen, strict=True)), contract, database, outage)
        body = (_BodyUntilClosed if closed else _Body)(*given)
        try:
            body.write(program)
        except (NoScriptError, KeyError):
            return ""
        tops = dict.fromkeys(top_of(fault, opening) for fault in chosen)
        lines = [line for top in tops for line in top] + body.script_lines(program, opening)
        text = script(promise, target.name, opening, lines, writer.imports)
        if complains_alone(text, contract):
            return text
    return ""


def _ways(faults: Sequence[Sequence[PlainFault]]) -> Iterator[tuple[PlainFault, ...]]:
    """Yield ways to fail all of the steps: first combinations of equally plain ways, then all
    others.
    """
    for number in range(max(map(len, faults), default=0)):
        yield tuple(ways[min(number, len(ways) - 1)] for ways in faults)
    yield from product(*faults)


@dataclass(slots=True)
class _Body:
    """Writes the function that uses the saver. ``behind`` are the numbers of the states that may
    lack the call that has just failed, and ``in_part`` of those that may lack it in some threads.
    """

    writer: ScriptWriter
    faults: Mapping[int, PlainFault]
    contract: str
    database: str
    outage: Collection[int]
    lines: list[str] = field(default_factory=lambda: ["states = []"])
    behind: list[int] = field(default_factory=list)
    in_part: list[int] = field(default_factory=list)
    _states: int = 0
    _waiting: list[str] = field(default_factory=list)

    def _excusing(self, failing: Sequence[str], error: str, *, waits: bool) -> list[str]:
        """Return the lines of a call that may raise ``error``. If the contract lets only a call be
        lost that raises, the script notes that it did, unless the call ``waits``: then it is made
        again before anyone looks.
        """
        if self.contract != SILENT or waits:
            return [f"with contextlib.suppress({error}):", *indented(failing)]
        noted = f"    raised.append({self._states})"
        return ["try:", *indented(failing), f"except {error}:", noted]

    def write(self, program: Program) -> None:
        """Write the lines of the function that runs the program."""
        for position, step in enumerate(program):
            *before, call = lines_of(step, self.writer)
            if position not in self.outage:
                self._make_waiting()
            self.lines += before
            if position in self.faults:
                self._fail(call, position, program[: position + 1])
            else:
                self.lines.append(call)
                self._show()
        self._make_waiting()
        taken = {step.contract for step in program if isinstance(step, OwnStep)}
        if self.contract in self.writer.methods.own.keys() - taken:
            self.lines += ["if failing:", f"    {self.writer.call_own(self.contract, {})}"]

    def _fail(self, call: str, position: int, program: Program) -> None:
        """Write the call of a program's last step with its fault, which only the run with faults
        has.
        """
        fault, name = self.faults[position], f"call_{position + 1}"
        wait = "await " if call.startswith("await ") else ""
        again = f"{wait}{name}()"
        failing = [line.format(call=again, coroutine=f"{name}()") for line in fault.call]
        if fault.raises:
            failing = self._excusing(failing, fault.error, waits=position in self.outage)
        self.lines += [
            f"def {name}():",
            f"    return {call.removeprefix('await ')}",
            "if failing:",
            *indented([*made(fault), *failing, *fault.after]),
        ]
        if position in self.outage:
            self._waiting.append(again)
            return
        self.lines += ["else:", f"    {again}"]
        if self.contract != SILENT:
            self.behind.append(self._states)
            self.in_part += [self._states] if isinstance(program[-1], OF_THREADS) else []
        self._show()
        self._put_back(removed(program))
        self.lines += [*other_commits(self.database), again]
        self._show()

    def _put_back(self, gone: Program) -> None:
        """Write lines that put removed checkpoints again, if nothing of the thread is left, and
        look at what comes back with them.
        """
        if not gone or self.contract not in (WHOLE, CANCELLED):
            return
        puts = [line for step in gone for line in lines_of(step, self.writer)]
        wait = self.writer.calls.wait
        self.lines += [
            "back = None",
            f"if not any({wait}shown(saver)):",
            *indented([*puts, f"back = {wait}shown(saver)"]),
            "states.append(back)",
        ]
        self._states += 1

    def _make_waiting(self) -> None:
        """Write once more the calls that failed in the outage, which is now over."""
        if self._waiting:
            self.lines += self._waiting
            self._waiting = []
            self._show()

    def _show(self) -> None:
        self.lines.append(f"states.append({self.writer.calls.wait}shown(saver))")
        self._states += 1

    def script_lines(self, program: Program, opening: Opening) -> list[str]:
        """Return the functions of the script, and the lines that use and compare them."""
        calls = self.writer.calls
        lines = self._compared(opening)
        shown = self._shown(program)
        return [
            *helpers(self.writer, opening),
            *shown,
            *(["raised = []"] if self.contract == SILENT else []),
            f"{calls.define} run(saver, path, failing):",
            *indented([*self.lines, "return states"]),
            *main(lines, coroutine=calls.in_coroutine),
        ]

    def _compared(self, opening: Opening) -> list[str]:
        """Return the lines that compare the run with faults with the run without."""
        calls = self.writer.calls
        running = opening.opened([f"expected = {calls.wait}run(saver, path, False)"])
        failing = [
            "try:",
            f"    observed = {calls.wait}run(saver, path, True)",
            "except Exception as error:",
            '    raise SystemExit(f"{__doc__}\\nobserved: {error!r}") from error',
        ]
        behind = "raised" if self.contract == SILENT else str(self.behind)
        comparing = [
            f"behind = {behind}  # states that may lack the call that has just failed",
            *([f"in_part = {self.in_part}  # or lack it in some threads"] if self.in_part else []),
            "empty = [[] for _ in expected[0]]",
            "by_step = zip([empty, *expected], expected, observed)",
            "for n, (before, after, seen) in enumerate(by_step):",
            "    late = n in behind and seen == before",
            *([_LATE_IN_PART] if self.in_part else []),
            "    if not late and seen not in (None, after):",
            '        difference = f"expected: {after!r:.1000}\\nobserved: {seen!r:.1000}"',
            '        raise SystemExit(f"{__doc__}\\n{difference}")',
        ]
        return [
            *opening.in_folder(running),
            *opening.in_folder(opening.opened(failing)),
            *comparing,
        ]

    def _shown(self, program: Program) -> list[str]:
        """Return lines that read what the saver shows of each thread, without versions, which may
        be random.
        """
        writer = self.writer
        threads = dict.fromkeys(getattr(step, "thread", "") for step in program)
        if any(isinstance(step, OwnStep) for step in program):
            # An author's rule may act on any thread.
            threads |= dict.fromkeys(WATCHED)
        given = [writer.config(thread) for thread in threads if thread]
        listings = [writer.listing(config, item="state(found)") for config in given]
        return [
            "def state(found):",
            '    namespace, made = found.config["configurable"]["checkpoint_ns"], found.checkpoint',
            "    writes = sorted(map(repr, found.pending_writes or ()))",
            '    return namespace, made["id"], made["channel_values"], writes',
            "",
            "",
            f"{writer.calls.define} shown(saver):",
            f"    return [{', '.join(listings)}]",
        ]


class _BodyUntilClosed(_Body):
    """Writes a program after which another saver must show what the one with the faults has
    shown.
    """

    def _excusing(self, failing: Sequence[str], error: str, *, waits: bool) -> list[str]:
        return super()._excusing(failing, error, waits=True)

    def _compared(self, opening: Opening) -> list[str]:
        wait = self.writer.calls.wait
        seen = working(opening.opened([f"seen = {wait}shown(saver)"]))
        differ = complaint("{states[-1]!r:.1000}", "{seen!r:.1000}")
        run = opening.opened([f"states = {wait}run(saver, path, True)"])
        return opening.in_folder([*run, *seen, "if seen != states[-1]:", f"    {differ}"])


def made(fault: PlainFault) -> list[str]:
    """Return the lines that make the fault. If they raise, the script says that it cannot
    decide.
    """
    if not fault.uses_store:
        return list(fault.before)
    return [
        "try:",
        *indented(fault.before),
        "except Exception as error:",
        '    print(f"undecided, for the fault could not be made: {error!r}", file=sys.stderr)',
        "    raise SystemExit(2) from error",
    ]


def removed(program: Program) -> Program:
    """Return the puts of the thread that the last step removes, if it removes one."""
    match program[-1]:
        case DeleteThread(thread):
            return tuple(s for s in program if isinstance(s, Put) and s.thread == thread)
    return ()
