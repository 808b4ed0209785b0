"""Standalone scripts that kill a process of their own, and look at what it has left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from saverproof.contracts.registry import contract as contract_of
from saverproof.families.durability.kill_source import Death, deaths
from saverproof.families.durability.record import REOPENS, KillTrial
from saverproof.scripts.assembling import all_folded, head, imports, indented
from saverproof.scripts.opening import Opening, opening_of, opens_asynchronously
from saverproof.scripts.speaking import NotSpokenError, Speaker
from saverproof.scripts.trying import complains_alone
from saverproof.steps.definitions import CopyThread, Program
from saverproof.targets.target import Target

_MOST_TRIED = 6


def reproducer(target: Target, contract: str, trials: Sequence[KillTrial], api: str) -> str:
    """The source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    if opening is None or trials[0].beside:
        return ""
    speaker = Speaker(api, opens_asynchronously(target), opening.expression)
    texts: dict[str, None] = {}
    for trial in trials:
        for death in deaths(trial.place):
            run = KillScript(speaker, opening, trial.run.program, target.name)
            try:
                texts[run.script(contract, trial, death)] = None
            except NotSpokenError:
                return ""
    for text in list(texts)[:_MOST_TRIED]:
        if complains_alone(text, contract):
            return text
    return ""


_CHECK = (
    'for file in (file for file in pathlib.Path(path).rglob("*") if file.is_file()):',
    '    if file.read_bytes().startswith(b"SQLite format 3"):',
    "        with contextlib.closing(sqlite3.connect(file)) as other:",
    '            (said,) = other.execute("PRAGMA integrity_check").fetchone()',
    '        if said != "ok": raise ValueError(said)',
)


@dataclass(frozen=True, slots=True)
class KillScript:
    """A program as a function of a script, in which ``after`` is told of each step that is done."""

    speaker: Speaker
    opening: Opening
    program: Program
    name: str

    @property
    def threads(self) -> list[str]:
        """The threads in which something may be seen."""
        named = [getattr(step, "thread", "") for step in self.program]
        copies = [step.target for step in self.program if isinstance(step, CopyThread)]
        return [thread for thread in dict.fromkeys((*named, *copies)) if thread]

    @property
    def wait(self) -> str:
        """What stands before calls of the script's own functions."""
        return "await " if self.speaker.in_coroutine else ""

    @property
    def define(self) -> str:
        """What begins the script's own functions."""
        return "async def" if self.speaker.in_coroutine else "def"

    def functions(self) -> list[str]:
        """The helpers, the program and what is looked at.

        Raises:
            NotSpokenError: there is no short form for one of the steps.
        """
        listings = ", ".join(f"*{self.speaker.listing(thread)}" for thread in self.threads)
        calls = [self.speaker.call(step) for step in self.program]
        return [
            *self.speaker.helpers(),
            f"{self.define} shown(saver):",
            '    return [(one.checkpoint["id"], one.checkpoint["channel_values"],',
            f"        sorted(map(repr, one.pending_writes or ()))) for one in [{listings}]]",
            f"{self.define} run(saver, after):",
            *indented(
                line
                for number, call in enumerate(calls, 1)
                for line in (call, f"{self.wait}after({number})")
            ),
        ]

    def clean(self) -> list[str]:
        """The lines that run the program undisturbed, and keep what is shown after each step."""
        return [
            "states = []",
            f"{self.define} keep(_): states.append({self.wait}shown(saver))",
            *self.speaker.with_saver([f"{self.wait}keep(0)", f"{self.wait}run(saver, keep)"]),
        ]

    def assembled(
        self, promise: str, top: Sequence[str], more: Sequence[str], main: list[str]
    ) -> str:
        """The whole script, of its lines in ``main``."""
        if self.speaker.in_coroutine:
            main = ["async def main():", *indented(main), "asyncio.run(main())"]
        body = [*top, *self.opening.before, *all_folded([*self.functions(), *main])]
        code = "\n".join(body)
        return "\n".join([*head(promise, self.name), *imports(self.opening, more, code), *body, ""])

    def stored(self, lines: list[str]) -> list[str]:
        """The lines with a folder for a store, which goes afterwards."""
        folder = "with tempfile.TemporaryDirectory() as path"
        if not self.opening.drop:
            return [f"{folder}:", *indented(lines)]
        dropping = f"cleanup.callback(lambda: {self.opening.drop.format('path')})"
        return [
            f"{folder}, contextlib.ExitStack() as cleanup:",
            *indented([dropping, *lines]),
        ]

    def script(self, contract: str, trial: KillTrial, death: Death) -> str:
        """A script whose process dies at the trial's place, or right after the operation there."""
        begun = trial.acknowledged
        done = begun + 1 if trial.flying else begun
        allowed = f"states[{begun}:{done + 1}]"
        if death.after:
            begun, allowed = done, f"states[{done}:{done + 1}]"
        elif death.at_once:
            allowed = "states[:1]"
        does = "pass" if death.at_once else f"if n == {begun}: {death.arm}"
        main = [
            f"{self.define} die(n):",
            f"    {does}",
            "if len(sys.argv) > 1:  # the process that dies",
            *indented([death.arm] if death.at_once else []),
            *indented(["path = sys.argv[1]", *self.speaker.with_saver(self._dying())]),
            "    sys.exit()",
            *self.stored(self.clean()),
            *self.stored(self._killed(allowed, check=contract == REOPENS)),
        ]
        promise = f"{contract}: {contract_of(contract).statement}"
        return self.assembled(promise, death.top, death.imports, main)

    def _dying(self) -> list[str]:
        return [f"{self.wait}die(0)", f"{self.wait}run(saver, die)"]

    def _killed(self, allowed: str, *, check: bool) -> list[str]:
        looking = [f"found = {self.wait}shown(saver)", *(_CHECK if check else ())]
        looking.append(self.speaker.other())
        return [
            "killed = subprocess.run([sys.executable, __file__, path]).returncode",
            "if killed != -signal.SIGKILL: sys.exit(2)",
            "try:",
            *indented(self.speaker.with_saver(looking)),
            "except Exception as error:",
            '    raise SystemExit(f"{__doc__}\\nthe store cannot be used: {error!r}") from error',
            f"if found not in {allowed}:",
            f'    raise SystemExit(f"{{__doc__}}\\nexpected: {{{allowed}}}\\nfound: {{found}}")',
        ]
