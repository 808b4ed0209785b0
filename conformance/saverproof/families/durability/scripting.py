"""Standalone scripts that kill a process of their own, and look at what it has left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from saverproof.families.durability.kill_source import KillSource, deaths
from saverproof.families.durability.record import REOPENS, KillTrial
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.statements import NoScriptError, lines_of, other_thread
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import Looks, Manner, ScriptWriter
from saverproof.steps.definitions import CopyThread, Program
from saverproof.targets.target import Target
from saverproof_faults.servers.keeping import restart

_MOST_TRIED = 6


def reproducer(target: Target, contract: str, trials: Sequence[KillTrial], api: str) -> str:
    """The source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    if opening is None or trials[0].beside:
        return ""
    texts: dict[str, None] = {}
    for trial in trials:
        for death in deaths(trial.place):
            try:
                run = KillScript(opening, trial.run.program, api, target.name)
            except (NoScriptError, KeyError):
                return ""
            texts[run.script(contract, trial, death)] = None
    return first_to_complain(list(texts)[:_MOST_TRIED], contract)


_RESTART = f"from {restart.__module__} import {restart.__name__}"
_CHECK = (
    'for file in filter(pathlib.Path.is_file, pathlib.Path(path).rglob("*")):',
    '    if file.read_bytes().startswith(b"SQLite format 3"):',
    "        with contextlib.closing(sqlite3.connect(file)) as other:",
    '            (said,) = other.execute("PRAGMA integrity_check").fetchone()',
    '        if said != "ok":',
    "            raise ValueError(said)",
)


class KillScript:
    """A program as a function of a script, in which ``after`` is told of each step that is done.

    Raises:
        NoScriptError: there are no statements for one of the steps.
    """

    def __init__(self, opening: Opening, program: Program, api: str, name: str) -> None:
        self.opening, self.program, self.name = opening, program, name
        self.calls = CallSource(api, opening.managed)
        self.writer = ScriptWriter(self.calls, Looks(), Manner("list"))
        self.writer.helpers.add("opened")
        self.steps = [lines_of(step, self.writer) for step in program]

    def opened(self, lines: Iterable[str]) -> list[str]:
        """The lines with the saver open."""
        return self.opening.opened(lines, expression="opened(path)")

    def functions(self) -> list[str]:
        """The helpers, the program and what is looked at."""
        named = [getattr(step, "thread", "") for step in self.program]
        copies = [step.target for step in self.program if isinstance(step, CopyThread)]
        threads = [thread for thread in dict.fromkeys((*named, *copies)) if thread]
        configs = [self.writer.config(thread, "") for thread in threads]
        listings = ", ".join(f"*{self.writer.listing(config)}" for config in configs)
        latest = ", ".join(self.writer.ask("get_tuple", config) for config in configs)
        wait, define = self.calls.wait, self.calls.define
        return [
            *helpers(self.writer, self.opening),
            f"{define} shown(saver):",
            "    states = []",
            f"    for one in [{listings}]:",
            "        writes = sorted(map(repr, one.pending_writes or ()))",
            '        values = one.checkpoint["channel_values"]',
            '        states.append((one.checkpoint["id"], values, writes))',
            f"    latest = [{latest}]",
            '    return states, [one and one.checkpoint["id"] for one in latest]',
            f"{define} run(saver, after):",
            *indented(
                line
                for number, lines in enumerate(self.steps, 1)
                for line in (*lines, f"{wait}after({number})")
            ),
        ]

    def clean(self) -> list[str]:
        """The lines that run the program undisturbed, and keep what is shown after each step."""
        wait = self.calls.wait
        return self.opening.in_folder(
            [
                "states = []",
                f"{self.calls.define} keep(_):",
                f"    states.append({wait}shown(saver))",
                *self.opened([f"{wait}keep(0)", f"{wait}run(saver, keep)"]),
            ]
        )

    def assembled(self, contract: str, top: Sequence[str], lines: list[str]) -> str:
        """The whole script, whose program is ``lines``."""
        body = main(lines, coroutine=self.calls.in_coroutine)
        body = [*top, *self.functions(), *body]
        return script(promise_of(contract), self.name, self.opening, body, self.writer.imports)

    def script(self, contract: str, trial: KillTrial, death: KillSource) -> str:
        """A script whose process dies at the trial's place, or right after the operation there."""
        begun = trial.acknowledged
        done = begun + 1 if trial.flying else begun
        allowed = f"states[{begun}:{done + 1}]"
        if death.after:
            begun, allowed = done, f"states[{done}:{done + 1}]"
        elif death.at_once:
            allowed = "states[:1]"
        does = ["pass"] if death.at_once else [f"if n == {begun}:", f"    {death.arm}"]
        wait = self.calls.wait
        lines = [
            f"{self.calls.define} die(n):",
            *indented(does),
            "if len(sys.argv) > 1:  # the process that dies",
            *indented([*death.first, *([death.arm] if death.at_once else [])]),
            "    path = sys.argv[1]",
            *indented(self.opened([f"{wait}die(0)", f"{wait}run(saver, die)"])),
            "    sys.exit()",
            *self.clean(),
            *self.opening.in_folder(
                self._killed(allowed, check=contract == REOPENS, server=trial.place.server)
            ),
        ]
        top = (_RESTART, *death.top) if trial.place.server else death.top
        return self.assembled(contract, top, lines)

    def _killed(self, allowed: str, *, check: bool, server: bool) -> list[str]:
        found = f"found = {self.calls.wait}shown(saver)"
        looking = [found, *(_CHECK if check else ()), *other_thread(self.writer)]
        if check:
            listing = self.writer.listing(self.writer.config("other", ""))
            looking += [f"if not {listing}:", '    raise ValueError("a put returned, and is gone")']
        return [
            "killed = subprocess.run([sys.executable, __file__, path]).returncode",
            "if killed != -signal.SIGKILL:",
            "    sys.exit(2)",
            *([f"{restart.__name__}()"] if server else []),
            "try:",
            *indented(self.opened(looking)),
            "except Exception as error:",
            f"    {complaint('a store that can be used', '{error!r}')} from error",
            f"if found not in {allowed}:",
            f"    {complaint(f'{{{allowed}}}', '{found}')}",
        ]
