"""Scripts that kill a process within a program, and then open its store again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from saverproof.programs.steps.definitions import CopyThread, Program
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening
from saverproof.scripts.saver_methods import SaverMethods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.statements import BESIDE, beside, lines_of, other_thread
from saverproof.scripts.writer import ScriptWriter
from saverproof_faults.scripted import restart

DIE = "os.kill(os.getpid(), signal.SIGKILL)"


@dataclass(frozen=True, slots=True)
class KillSource:
    """The source text of a way to die.

    ``top`` stands at the top of the script, ``first`` at the beginning of the process that dies.
    ``arm`` is executed when the operation begins in which it dies, or before the saver is opened if
    ``at_once``. If ``again`` is given, processes that open the store afterwards die as well: each
    executes it first, and finds the place at which it dies in its second argument.
    """

    arm: str
    top: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    after: bool = False
    """True if the operation has returned before the process dies."""
    at_once: bool = False
    again: str = ""


def deaths_at_statement(number: int, *, at_once: bool = False) -> Iterator[KillSource]:
    """Yield ways to die before a statement that SQLite runs.

    There are several, because the script may begin to count at another statement than the kit.
    """
    for left in (number, number + 1, number + 2):
        yield KillSource(f"left[0] = {left}", _STATEMENTS, at_once=at_once)


_STATEMENTS = (
    "left = [0]  # statements until the process dies",
    "def count(_):",
    "    left[0] -= 1",
    f"    if left[0] == 0: {DIE}",
    "def watched(*given, **more):",
    "    connection = connect(*given, **more)",
    "    connection.set_trace_callback(count)",
    "    return connection",
    "connect, sqlite3.connect = sqlite3.connect, watched",
)


_RESTART = f"from {restart.__module__} import {restart.__name__}"
_CHECK = (
    'for file in filter(pathlib.Path.is_file, pathlib.Path(path).rglob("*")):',
    '    if file.read_bytes().startswith(b"SQLite format 3"):',
    "        with contextlib.closing(sqlite3.connect(file)) as other:",
    '            (said,) = other.execute("PRAGMA integrity_check").fetchone()',
    '        if said != "ok":',
    "            raise ValueError(said)",
)

_OPENED_AND_KILLED = (
    "for place in range(1, 8):  # those that open it die too, each one place later",
    "    subprocess.run([sys.executable, __file__, path, str(place)])",
)


_ANY_METHODS = SaverMethods()


class KillScript:
    """A program as a function of a script, whose argument ``after`` is called after each step.

    ``also`` names threads that are looked at besides those of the program, and ``listed`` are
    configs to list, as source. If the last step has removed a thread, the puts of ``back`` are made
    again, to see what comes back with them.

    Raises:
        NoScriptError: there are no statements for one of the steps.
    """

    def __init__(
        self,
        opening: Opening,
        program: Program,
        api: str,
        name: str,
        methods: SaverMethods = _ANY_METHODS,
        also: Sequence[str] = (),
        back: Program = (),
        listed: Sequence[str] = (),
    ) -> None:
        self.opening, self.program, self.name, self.also = opening, program, name, also
        self.listed = listed
        self.calls = CallSource(api, opening.managed)
        self.writer = ScriptWriter(self.calls, methods)
        self.writer.helpers.add("opened")
        self.steps = [lines_of(step, self.writer) for step in program]
        self.back = [line for step in back for line in lines_of(step, self.writer)]

    def opened(self, lines: Iterable[str]) -> list[str]:
        """Return the lines inside a block in which the saver is open."""
        return self.opening.opened(lines, expression="opened(path)")

    def functions(self) -> list[str]:
        """Return the definitions of the helpers, the program and the looks."""
        threads = [*dict.fromkeys((*self._threads(), *self.also))]
        # The root, or every namespace where there are more.
        at = () if any(getattr(step, "namespace", "") for step in self.program) else ("",)
        configs = [self.writer.config(thread, *at) for thread in threads]
        listed = (*configs, *self.listed)
        listings = ", ".join(f"*{self.writer.listing(config)}" for config in listed)
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
            *self._put_back(),
        ]

    def _threads(self) -> list[str]:
        named = [getattr(step, "thread", "") for step in self.program]
        copies = [step.target for step in self.program if isinstance(step, CopyThread)]
        return [thread for thread in dict.fromkeys((*named, *copies)) if thread]

    def _put_back(self) -> list[str]:
        if not self.back:
            return []
        wait, define = self.calls.wait, self.calls.define
        return [
            f"{define} put_back(saver):",
            f"    if ({wait}shown(saver))[0]:",
            "        return None",
            *indented([*self.back, f"return {wait}shown(saver)"]),
        ]

    def clean(self) -> list[str]:
        """Return the lines that run the program undisturbed, and keep what is shown after each
        step.
        """
        wait = self.calls.wait
        back = [f"back = {wait}put_back(saver)"] if self.back else []
        return self.opening.in_folder(
            [
                "states = []",
                f"{self.calls.define} keep(_):",
                f"    states.append({wait}shown(saver))",
                *self.opened([f"{wait}keep(0)", f"{wait}run(saver, keep)", *back]),
            ]
        )

    def assembled(self, contract: str, top: Sequence[str], lines: list[str]) -> str:
        """Return the whole script, whose main part is ``lines``."""
        body = main(lines, coroutine=self.calls.in_coroutine)
        body = [*top, *self.functions(), *body]
        return script(promise_of(contract), self.name, self.opening, body, self.writer.imports)

    def killed(
        self,
        contract: str,
        death: KillSource,
        begun: int,
        done: int,
        *,
        check: bool = False,
        server: bool = False,
    ) -> str:
        """Return a script whose process dies after ``begun`` operations.

        ``done`` counts the operation in flight as well. With ``check`` the file must be whole, and
        must take writes, in the program's threads as well; with ``server`` the server is started
        again first.
        """
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
            *indented(self._dying_again(death.again)),
            *indented(self.opened([f"{wait}die(0)", f"{wait}run(saver, die)"])),
            "    sys.exit()",
            *self.clean(),
            *self.opening.in_folder(
                self._looking(allowed, check=check, server=server, again=bool(death.again))
            ),
        ]
        top = (_RESTART, *death.top) if server else death.top
        return self.assembled(contract, top, lines)

    def _dying_again(self, arm: str) -> list[str]:
        """Return the lines of a process that opens the killed store, and dies as well."""
        if not arm:
            return []
        return [
            "if len(sys.argv) > 2:  # one that opens the store again",
            f"    {arm}",
            *indented(self.opened([f"{self.calls.wait}shown(saver)"])),
            "    sys.exit()",
        ]

    def _looking(self, allowed: str, *, check: bool, server: bool, again: bool) -> list[str]:
        found = f"found = {self.calls.wait}shown(saver)"
        looking = [found, *(_CHECK if check else ()), *other_thread(self.writer)]
        back: list[str] = []
        if self.back:
            looking.insert(1, f"again = {self.calls.wait}put_back(saver)")
            back = ["if again not in (None, back):", f"    {complaint('{back}', '{again}')}"]
        if check:
            listing = self.writer.listing(self.writer.config("other", ""))
            looking += [f"if not {listing}:", '    raise ValueError("a put returned, and is gone")']
        reopened: list[str] = []
        for thread in self._threads() if check else ():
            looking += beside(thread, self.writer)
            listing = self.writer.listing(self.writer.config(thread, BESIDE))
            gone = 'raise ValueError("a put is gone once the store is opened again")'
            reopened += [f"if not {listing}:", f"    {gone}"]
        return [
            "killed = subprocess.run([sys.executable, __file__, path]).returncode",
            "if killed != -signal.SIGKILL:",
            '    raise RuntimeError(f"the process was not killed, but ended with {killed}")',
            *([f"{restart.__name__}()"] if server else []),
            *(_OPENED_AND_KILLED if again else ()),
            "try:",
            *indented(self.opened(looking)),
            *indented(self.opened(reopened) if reopened else ()),
            "except Exception as error:",
            f"    {complaint('a store that can be used', '{error!r}')} from error",
            f"if found not in {allowed}:",
            f"    {complaint(f'{{{allowed}}}', '{found}')}",
            *back,
        ]
