"""Standalone scripts that show a flaw: they exit with 1 while it is there, then with 0.

A script that cannot decide, as when the saver cannot be opened, exits with 2 (``script.script``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from saverproof.contracts.tables.deletion import PRUNE_DROPS_OLDER
from saverproof.programs.operations import OPERATIONS
from saverproof.programs.steps import definitions as steps
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.complaints import guarded
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.own_source import NO_SOURCES, OwnSources
from saverproof.scripts.saver_methods import SaverMethods, put_writes_of, saver_methods
from saverproof.scripts.script import complaint, complaint_by_force, main, promise_of, script
from saverproof.scripts.statements import NoScriptError, lines_of, write_steps
from saverproof.scripts.verification import complains, complains_alone
from saverproof.scripts.writer import SECOND, ScriptWriter


class Flaw(Protocol):
    """A flaw that a program shows, and that a script is made to show."""

    @property
    def contract(self) -> str:
        """The id of the contract that was first blamed."""
        ...

    @property
    def hangs(self) -> bool:
        """True if a call never returns, and so blocks the thread that makes it."""
        ...

    def show(self, writer: ScriptWriter, program: steps.Program) -> None:
        """Write the program, and a complaint about what its last step shows.

        Raises:
            NoScriptError: no script can show this.
        """
        ...


def reproducer(
    target: Target,
    program: steps.Program,
    flaw: Flaw,
    api: str,
    *,
    name: str,
    own: OwnSources = NO_SOURCES,
) -> str:
    """Return the source of a script that shows a flaw, or "" if none does.

    The script was run in a process of its own, and complained. ``program`` ends with the step that
    showed the flaw. ``api`` is "sync", "async" or "crossed". ``name`` is the contract's id, by
    which the script and its message begin. ``own`` is what an author has added.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    calls = CallSource(api, opening.managed)
    methods = replace(saver_methods(target, program, calls), own=own.functions)
    statement = own.statements.get(name, "")
    return _shown(target, opening, program, flaw, calls, methods, name, statement)


def _shown(
    target: Target,
    opening: Opening,
    program: steps.Program,
    flaw: Flaw,
    calls: CallSource,
    methods: SaverMethods,
    name: str,
    statement: str = "",
) -> str:
    promise = f"{name}: {statement}" if statement else promise_of(name, flaw.contract)
    for writer in _writers(calls, methods, flaw.contract):
        try:
            flaw.show(writer, program)
        except (NoScriptError, KeyError):
            # The model differs from the one that followed the saver's mistakes: a step may build
            # on a checkpoint that is not there any more.
            return ""
        text = _script(writer, opening, promise, target.name)
        # A thread of this process would hang with the script.
        shows = complains_alone if flaw.hangs or writer.alone else complains
        if shows(text, name):
            return text
    return ""


def _writers(calls: CallSource, methods: SaverMethods, contract: str) -> Iterator[ScriptWriter]:
    """Yield the writers to try in turn. Without reads, most scripts are shorter."""
    yield ScriptWriter(calls, methods)
    # The flaw may be in what a saver keeps of a read.
    yield ScriptWriter(calls, methods, reads_between=True)
    # By all other contracts a saver may keep what is older.
    if contract == PRUNE_DROPS_OLDER.id:
        yield ScriptWriter(calls, methods, drops_older=True)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A saver without an operation."""

    contract: str
    expected: str
    hangs: bool = False

    def show(self, writer: ScriptWriter, program: steps.Program) -> None:
        """Write a call of the operation, which must not raise."""
        (step,) = program
        guarded(writer, lines_of(step, writer), self.expected)


@dataclass(frozen=True, slots=True)
class _NoTaskPath:
    """A saver whose ``method`` has no parameter ``task_path``."""

    contract: str
    method: str
    hangs: bool = False

    def show(self, writer: ScriptWriter, program: steps.Program) -> None:
        """Write a look at the signature: ``*args`` takes a path, but LangGraph sends none."""
        writer.imports.add("import inspect")
        expected, observed = f"{self.method}(config, writes, task_id, task_path)", "{signature}"
        writer.say(
            f"signature = inspect.signature(saver.{self.method})",
            'if "task_path" not in signature.parameters:',
            f"    {complaint(expected, f'{self.method}{observed}')}",
        )


def operation_reproducer(target: Target, operation: str, api: str, *, name: str) -> str:
    """Return the source of a script that calls an operation which a saver lacks, or "".

    It is tried as in :func:`reproducer`. ``operation`` is a method that all savers have.
    """
    missing = _Missing(name, f"{operation} to be there")
    return _standing_reproducer(target, (OPERATIONS[operation],), missing, api)


def signature_reproducer(target: Target, api: str, *, name: str) -> str:
    """Return the source of a script that looks for the task path among the parameters of
    put_writes, or "". It is tried as in :func:`reproducer`.
    """
    return _standing_reproducer(target, (), _NoTaskPath(name, put_writes_of(api)), api)


def _standing_reproducer(target: Target, program: steps.Program, flaw: Flaw, api: str) -> str:
    opening = opening_of(target)
    if opening is None:
        return ""
    calls = CallSource(api, opening.managed)
    return _shown(target, opening, program, flaw, calls, SaverMethods(), flaw.contract)


def death_reproducer(target: Target, program: steps.Program, api: str, *, name: str) -> str:
    """Return the source of a script whose process dies, or hangs and is ended, in the last step or
    in the listing after it.

    The script is not tried first. The result is "" if the target cannot be imported, or if a step
    cannot be written.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    writer = ScriptWriter(CallSource(api, opening.managed), SaverMethods())
    writer.say("faulthandler.dump_traceback_later(10, exit=True)  # a hang ends with every stack")
    try:
        write_steps(writer, program)
    except (NoScriptError, KeyError):
        return ""
    if (thread := getattr(program[-1], "thread", None)) is not None:
        # The step itself may return, and leave a lock behind that the next call waits for.
        writer.say(writer.listing(writer.config(thread)))
    return _script(writer, opening, promise_of(name), target.name)


# --- the script as a whole -----------------------------------------------------------------------


def _script(writer: ScriptWriter, opening: Opening, promise: str, saver: str) -> str:
    """Return the whole script."""
    if len(writer.blocks) > 1:
        writer.helpers.add("opened")
    body = [*_in_time(writer, _with_saver(writer, opening))]
    return script(promise, saver, opening, [*helpers(writer, opening), *body], writer.imports)


def _with_saver(writer: ScriptWriter, opening: Opening) -> list[str]:
    expression = "opened(path)" if "opened" in writer.helpers else ""
    lines = [
        line
        for block in writer.blocks
        for line in opening.opened(_with_second(block, opening), expression=expression)
    ]
    if writer.guard:
        message = complaint(writer.guard, "raised {error!r:.1000}")
        handler = ["    if not begun:", "        raise", f"    {message} from error"]
        lines = ["begun = False", "try:", *indented(lines), "except Exception as error:", *handler]
    return opening.in_folder([*lines, *(writer.after or [])])


def _with_second(block: list[str], opening: Opening) -> list[str]:
    """Return the lines inside a block with a second saver on the store, if they use it."""
    if not any(re.search(rf"\b{SECOND}\.", line) for line in block):
        return block
    return opening.opened(block, SECOND, "opened(path)")


def _in_time(writer: ScriptWriter, lines: list[str]) -> list[str]:
    """Return the lines as a main part, which must end within the writer's patience if it has
    one.
    """
    if not writer.patience_s:
        return main(lines, coroutine=writer.calls.in_coroutine)
    observed = f"nothing in {writer.patience_s:g} s"
    return [
        "called = []",
        *main(lines, coroutine=True)[:-1],
        # A thread that hangs does not remove its own folder.
        "with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as tempfile.tempdir:",
        "    (worker := threading.Thread(target=lambda: asyncio.run(main()), daemon=True)).start()",
        f"    worker.join({writer.patience_s:g})",
        'assert called, "the call was not made"',
        "if worker.is_alive():",
        *indented(complaint_by_force("an answer or an exception", observed)),
    ]
