"""Standalone scripts of any program with faults, as long as the program makes them.

The program runs twice, on a store of its own each time, the second time with its faults. After each
step the two must show the same, but where a call failed: there the second may be one step behind,
until the call is made again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from saverproof.families.atomicity.judging import SILENT
from saverproof.families.atomicity.script_faults import PlainFault
from saverproof.scripts.assembling import indented
from saverproof.scripts.layout import script, statement_of
from saverproof.scripts.opening import Opening, looks_of, opening_of, opens_asynchronously
from saverproof.scripts.source import quoted
from saverproof.scripts.statements import NoScriptError, write
from saverproof.scripts.trying import complains_alone
from saverproof.scripts.voice import Voice
from saverproof.scripts.writer import Manner, Writer
from saverproof.steps.definitions import Program
from saverproof.targets.target import Target

_MOST_TRIED = 4


def long_reproducer(
    target: Target,
    program: Program,
    faults: Mapping[int, list[PlainFault]],
    contract: str,
    api: str,
    database: str = "",
    outage: Collection[int] = (),
) -> str:
    """The source of a script that was run and complained; "" if none of those tried did.

    ``faults`` are ways to fail the step at a position; ``database`` is the SQLite file of the
    store, if it has one. The steps at the positions of ``outage`` are made again only when all of
    them have failed.
    """
    opening = opening_of(target)
    if opening is None or not all(faults.values()):
        return ""
    voice = Voice(api, opens_asynchronously(target))
    snapshots = looks_of(target, program, voice)
    for chosen in list(product(*faults.values()))[:_MOST_TRIED]:
        writer = Writer(voice, snapshots, Manner("list"))
        try:
            body = _Body(dict(zip(faults, chosen, strict=True)), contract, database, outage)
            body.write(writer, program)
        except (NoScriptError, KeyError):
            return ""
        promise = f"{contract}: {statement_of(contract)}"
        text = script(writer, _failing(opening, chosen), promise, target.name)
        if complains_alone(text, contract):
            return text
    return ""


def _failing(opening: Opening, faults: tuple[PlainFault, ...]) -> Opening:
    """The opening, and before it what the faults need."""
    tops = dict.fromkeys(fault.top for fault in faults)
    return replace(
        opening,
        imports=(*opening.imports, *(line for fault in faults for line in fault.imports)),
        before=(*opening.before, *(line for top in tops for line in top)),
    )


@dataclass(slots=True)
class _Body:
    """What is done to a saver, as the lines of a function; ``behind`` are the numbers of the states
    that may lack the call which has just failed.
    """

    faults: Mapping[int, PlainFault]
    contract: str
    database: str
    outage: Collection[int]
    lines: list[str] = field(default_factory=lambda: ["states = []"])
    behind: list[int] = field(default_factory=list)
    _states: int = 0
    _waiting: list[str] = field(default_factory=list)

    def write(self, writer: Writer, program: Program) -> None:
        """Write the whole script's lines."""
        for position, step in enumerate(program):
            start = len(writer.blocks[0])
            write(step, writer)
            *before, call = writer.blocks[0][start:]
            del writer.blocks[0][start:]
            if position not in self.outage:
                self._make_waiting()
            self.lines += before
            if position in self.faults:
                self._fail(call, position)
            else:
                self.lines.append(call)
                self._show()
        self._make_waiting()
        self._frame(writer, program)

    def _fail(self, call: str, position: int) -> None:
        """The call with its fault, and without it in a run that is not to fail."""
        fault, name = self.faults[position], f"call_{position + 1}"
        wait = "await " if call.startswith("await ") else ""
        again = f"{wait}{name}()"
        harmed = [line.format(call=again, coroutine=f"{name}()") for line in fault.call]
        if fault.raises and self.contract != SILENT:
            kind = "BaseException" if "cancelled" in harmed[0] else "Exception"
            harmed = [f"with contextlib.suppress({kind}):", *indented(harmed)]
        self.lines += [
            f"{name} = lambda: {call.removeprefix('await ')}",
            "if failing:",
            *indented([*fault.before, *harmed, *fault.after]),
        ]
        if position in self.outage:
            self._waiting.append(again)
            return
        self.lines += ["else:", f"    {again}"]
        self.behind += [self._states] if self.contract != SILENT else []
        self._show()
        self.lines += [*_others(self.database), again]
        self._show()

    def _make_waiting(self) -> None:
        """All is healed: what has failed is called again."""
        if self._waiting:
            self.lines += self._waiting
            self._waiting = []
            self._show()

    def _show(self) -> None:
        self.lines.append(_SHOW)
        self._states += 1

    def _frame(self, writer: Writer, program: Program) -> None:
        """The function, and what it comes to with faults and without."""
        writer.helpers.add("opened")
        writer.imports |= {"import contextlib", "import sqlite3", "import tempfile"}
        coroutine = writer.voice.in_coroutine
        first = "async def" if coroutine else "def"
        wait = "await " if coroutine else ""
        keyword = "async with" if writer.voice.managed else "with"
        writer.say(
            f"{first} shown(saver):",
            *indented(_listing(writer, program)),
            f"{first} run(saver, path, failing):",
            *indented(
                [line.replace(_SHOW, f"states.append({wait}shown(saver))") for line in self.lines]
            ),
            "    return states",
            "with tempfile.TemporaryDirectory() as second:",
            f"    {keyword} opened(second) as other:",
            f"        expected = {wait}run(other, second, False)",
            "try:",
            f"    observed = {wait}run(saver, path, True)",
            "except Exception as error:",
            '    raise SystemExit(f"{__doc__}\\nobserved: {error!r}") from error',
            f"behind = {self.behind}  # where a call failed, and nothing of it may be there",
            "for n, (before, after, seen) in enumerate(zip([[], *expected], expected, observed)):",
            "    if seen != after and not (n in behind and seen == before):",
            '        told = f"expected: {after!r:.1000}\\nobserved: {seen!r:.1000}"',
            '        raise SystemExit(f"{__doc__}\\n{told}")',
        )


_SHOW = "show"


def _others(database: str) -> Iterator[str]:
    """Somebody else commits, which a lock that was left would not let them."""
    if database:
        path = f"path + {quoted('/' + database)}"
        yield f"with contextlib.closing(sqlite3.connect({path}, timeout=0)) as somebody:"
        yield '    somebody.execute("PRAGMA user_version = 1")'


def _listing(writer: Writer, program: Program) -> Iterator[str]:
    """What the saver shows, without versions, which may be drawn by chance."""
    threads = dict.fromkeys(getattr(step, "thread", "") for step in program)
    listings = [f"*{writer.listing(writer.config(thread))}" for thread in threads if thread]
    yield f"found = [{', '.join(listings)}]"
    yield 'return [(one.config["configurable"]["checkpoint_ns"], one.checkpoint["id"],'
    yield '         one.checkpoint["channel_values"], sorted(map(repr, one.pending_writes or ())))'
    yield "        for one in found]"
