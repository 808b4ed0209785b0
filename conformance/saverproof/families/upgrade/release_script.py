"""The frame of standalone scripts of two releases on one store; pip installs the older one.

Each part of what is done is taken by a process of its own, with one release first on its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from saverproof.programs.steps.definitions import Program
from saverproof.savers.releases.installed import Release, versions_in
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.source import literal
from saverproof.scripts.statements import NoScriptError, lines_of
from saverproof.scripts.writer import ScriptWriter

_BEHIND_THE_RELEASE = 2
"""Where a script puts folders on its path: behind its own folder and that of the release, which
would not be played otherwise.
"""
_TEXT = (
    "def text(value):",
    '    return re.sub(" at 0x[0-9a-f]+", "", repr(value))',
)
_TAKE = (
    "def take(release, store, part, versions, *more):  # in a process of its own",
    '    folders = os.pathsep.join([release, os.environ.get("PYTHONPATH", "")])',
    '    env = {**os.environ, "PYTHONPATH": folders, "PYTHONHASHSEED": "0"}',
    "    told = [sys.executable, __file__, store, str(part), json.dumps(versions), *more]",
    "    ended = subprocess.run(told, env=env, stdout=subprocess.PIPE, text=True)",
    "    if ended.returncode == -signal.SIGKILL:",
    "        return [versions, {}]",
    "    ended.check_returncode()",
    "    return json.loads(ended.stdout.splitlines()[-1])",
)
PLAYED = (
    "def played(*releases):  # each takes a part; the last part tells what is shown",
    "    store, versions, known = tempfile.mkdtemp(dir=path), [], {}",
    "    for part, release in enumerate(releases):",
    "        versions, facts = take(release, store, part, versions)",
    '        known |= {f"part {part + 1}: {name}": told for name, told in facts.items()}',
    "    return known",
)
"""The function that has releases take one part after the other, on a store of its own."""


class _CarryingWriter(ScriptWriter):
    """Writes versions as items of a list, which one process hands over to the next."""

    def _version(self, call: str, channel: str) -> str:
        self._minted += 1
        self.say(f"V.append({call})")
        return f"V[{self._minted - 1}]"


@dataclass(slots=True)
class ReleaseScript:
    """A script that is being written. ``requirements`` are what pip installs for the older release.

    ``parts`` are the names of the functions that processes call, in the order in which they are
    numbered, and ``functions`` their lines.
    """

    name: str
    opening: Opening
    writer: ScriptWriter
    requirements: list[str]
    parts: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, target: Target, release: Release, api: str, program: Program = ()) -> Self:
        """Begin a script that has the steps of a program.

        Raises:
            NoScriptError: pip installs nothing of the release, or no script can open the saver.
        """
        there = versions_in(Path(release.folder))
        opening = opening_of(target) if there else None
        # What lies outside of the folder would be removed for one of several stores only.
        if opening is None or opening.drop:
            raise NoScriptError("nothing that pip installs, or no text that opens the saver")
        calls = CallSource(api, opening.managed)
        writer = _CarryingWriter(calls, saver_methods(target, program, calls))
        writer.helpers.add("opened")
        return cls(
            target.name,
            replace(opening, folders_at=_BEHIND_THE_RELEASE),
            writer,
            [f"{name}=={version}" for name, version in sorted(there.items())],
        )

    @property
    def wait(self) -> str:
        """The keyword before calls of the script's own functions, or ""."""
        return self.writer.calls.wait

    def write(self, program: Program) -> None:
        """Write the next part: the steps of a program."""
        self.add(f"part_{len(self.parts) + 1}", self.lines_of(program))

    def lines_of(self, program: Program) -> list[str]:
        """Return the statements of some steps.

        Raises:
            NoScriptError: there are none for one of them.
        """
        return [line for step in program for line in lines_of(step, self.writer)]

    def add(
        self, name: str, lines: Iterable[str], *, returns: str = "{}", comment: str = ""
    ) -> None:
        """Add the next part, a function of this name. ``returns`` is the expression that it
        returns, for a dict with what is shown.
        """
        self.parts.append(name)
        self.functions += [
            f"{self.writer.calls.define} {name}(saver):{comment and f'  # {comment}'}",
            *indented([*lines, f"return {returns}"]),
        ]

    def assembled(
        self,
        contract: str,
        lines: Sequence[str],
        first: Sequence[str] = (),
        top: Sequence[str] = (),
    ) -> str:
        """Return the whole script. It ends with ``lines``, in a folder ``path``.

        ``first`` are the first statements of each process; ``top`` stands at the top of the script.
        """
        # Without an index, pip would try for a minute.
        pip = (
            '[sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--retries=1", '
            '"--target", old]'
        )
        taking = self.opening.opened([f"facts = {self.wait}part(saver)"], expression="opened(path)")
        body = [
            "if len(sys.argv) > 1:  # a process of one release",
            "    path, part = sys.argv[1], PARTS[int(sys.argv[2])]",
            *indented(first),
            "    try:",
            *indented(indented(taking)),
            "    except Exception as error:",
            '        facts = {"raised": text(error)}',
            "    print(json.dumps([V, facts]))",
            "    sys.exit()",
            *self.opening.in_folder(
                [
                    'old, new = f"{path}/old", ""',
                    f"subprocess.run({pip} + {literal(self.requirements)}, check=True)",
                    *lines,
                ]
            ),
        ]
        written = [
            *top,
            "V = json.loads(sys.argv[3]) if len(sys.argv) > 1 else []  # channel versions so far",
            *helpers(self.writer, self.opening),
            *_TEXT,
            *self.functions,
            f"PARTS = [{', '.join(self.parts)}]",
            *_TAKE,
            *main(body, coroutine=self.writer.calls.in_coroutine),
        ]
        promise = promise_of(contract)
        return script(promise, self.name, self.opening, written, self.writer.imports)


def compared(observed: str, *known: str) -> list[str]:
    """Return the lines that end the script if something is shown that is not ``known``: each
    argument is an expression for a dict.
    """
    return [
        f"known = [{', '.join(known)}]",
        f"observed = {observed}",
        "names = {name for one in (*known, observed) for name in one}",
        'for name in sorted(names, key=lambda name: ("raised" not in name, name)):',
        "    expected = [one.get(name) for one in known]",
        "    if observed.get(name) not in expected:",
        "        " + complaint("{name}: {expected}", "{observed.get(name)}"),
    ]
