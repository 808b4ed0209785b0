"""Writes standalone scripts of two releases on one store; pip installs the older one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from saverproof.families.upgrade.handovers import HANDOVERS
from saverproof.families.upgrade.programs import written
from saverproof.families.upgrade.trials import Handover, Odd, Which
from saverproof.programs.small import ONE, THREAD
from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutWrites,
    Step,
)
from saverproof.savers.releases.installed import Release, versions_in
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.source import literal
from saverproof.scripts.statements import NoScriptError, delta_history, lines_of
from saverproof.scripts.statements import read as read_source
from saverproof.scripts.verification import complains_alone
from saverproof.scripts.writer import ScriptWriter

_BEHIND_THE_RELEASE = 2
"""Where a script puts folders on its path: behind its own folder and that of the release, which
would not be played otherwise.
"""


class _CarryingWriter(ScriptWriter):
    """Writes versions as items of a list, which one process hands over to the next."""

    def _version(self, call: str, channel: str) -> str:
        self._minted += 1
        self.say(f"V.append({call})")
        return f"V[{self._minted - 1}]"


_TAKE = (
    "def take(release, store, part, versions):  # in a process of its own",
    '    folders = os.pathsep.join([release, os.environ.get("PYTHONPATH", "")])',
    '    env = {**os.environ, "PYTHONPATH": folders, "PYTHONHASHSEED": "0"}',
    "    told = [sys.executable, __file__, store, str(part), json.dumps(versions)]",
    "    ended = subprocess.run(told, env=env, stdout=subprocess.PIPE, text=True, check=True)",
    "    return json.loads(ended.stdout.splitlines()[-1])",
)
_PLAYED = (
    "def played(*releases):  # each takes a part of the program; the last one reads",
    "    store, versions, known = tempfile.mkdtemp(dir=path), [], {}",
    "    for part, release in enumerate(releases):",
    "        versions, facts = take(release, store, part, versions)",
    '        known |= {f"part {part + 1}: {name}": text for name, text in facts.items()}',
    "    return known",
)
_FACTS_OF_ONE = (
    'made, at = one.checkpoint, one.config["configurable"]',
    "about = f\"read {n}, {at['checkpoint_ns']!r} {made['id']}\"",
    'parts = {k: v for k, v in made.items() if "version" not in k and k != "channel_values"}',
    'parts |= {f"metadata {key!r}": item for key, item in one.metadata.items()}',
    'parts |= {f"value of {key!r}": item for key, item in made["channel_values"].items()}',
    'parent = (one.parent_config or {}).get("configurable", {})',
    'parts |= {"parent": parent.get("checkpoint_id"), "writes": one.pending_writes}',
    'found |= {f"{about}: {name}": text(part) for name, part in parts.items()}',
    'ids.setdefault(at["checkpoint_ns"], []).append(made["id"])',
)
_TEXT = (
    "def text(value):",
    '    return re.sub(" at 0x[0-9a-f]+", "", repr(value))',
)


@dataclass(slots=True)
class _Pieces:
    """The functions of a script: ``parts`` of a program that one process takes each, and reads of
    what they have stored.
    """

    target: Target
    opening: Opening
    writer: ScriptWriter
    requirements: list[str]
    parts: list[list[str]]
    reads: list[str]
    deltas: list[str]

    @classmethod
    def of(
        cls,
        target: Target,
        release: Release,
        api: str,
        parts: Sequence[Program],
        reads: Sequence[Step],
    ) -> _Pieces:
        """Write the parts and the reads.

        Raises:
            NoScriptError: there are no statements for a step, or for opening the saver.
        """
        wanted = _requirements(release)
        opening = opening_of(target) if wanted else None
        # What lies outside of the folder is removed for one store only.
        if opening is None or opening.drop:
            raise NoScriptError("nothing that pip installs, or no text that opens it")
        opening = replace(opening, folders_at=_BEHIND_THE_RELEASE)
        calls = CallSource(api, opening.managed)
        program = tuple(step for part in parts for step in part)
        writer = _CarryingWriter(calls, saver_methods(target, program, calls))
        writer.helpers.add("opened")
        taken = [[line for step in part for line in lines_of(step, writer)] for part in parts]
        asked, deltas = dict[str, None](), dict[str, None]()
        for step in reads:
            match step:
                case GetTuple():
                    asked[f"[{read_source(step, writer)}]"] = None
                case ListTuples():
                    asked[writer.listing(*writer.list_arguments(step))] = None
                case DeltaHistory():
                    deltas[delta_history(step, writer)] = None
        return cls(target, opening, writer, wanted, taken, [*asked], [*deltas])

    def functions(self) -> list[str]:
        """Return the definitions of all functions."""
        define = self.writer.calls.define
        names = [f"part_{number}" for number in range(1, len(self.parts) + 1)]
        return [
            "V = json.loads(sys.argv[3]) if len(sys.argv) > 1 else []  # channel versions so far",
            *helpers(self.writer, self.opening),
            *(
                line
                for name, lines in zip(names, self.parts, strict=True)
                for line in (f"{define} {name}(saver):", *indented([*lines, "return {}"]))
            ),
            *_TEXT,
            *(self._reading() if self.reads else ()),
            f"PARTS = [{', '.join((*names, *(['shown'] if self.reads else ())))}]",
            *_TAKE,
        ]

    def _reading(self) -> Iterator[str]:
        yield f"{self.writer.calls.define} shown(saver):  # no versions: each release has its own"
        yield "    found = {}"
        yield f"    for n, tuples in enumerate([{', '.join(self.reads)}]):"
        yield "        ids = {}"
        yield "        for one in filter(None, tuples):"
        yield from indented(indented(indented(_FACTS_OF_ONE)))
        yield '        found[f"ids of read {n}"] = text(sorted(ids.items()))'
        for number, delta in enumerate(self.deltas):
            yield f'    found["delta history {number}"] = text({delta})'
        yield "    return found"

    def assembled(self, contract: str, lines: Sequence[str]) -> str:
        """Return the whole script, which ends with ``lines`` in a folder ``path``."""
        wait = self.writer.calls.wait
        pip = '[sys.executable, "-m", "pip", "install", "-q", "--no-deps", "-t", old]'
        body = [
            "if len(sys.argv) > 1:  # a process of one release",
            "    path, part = sys.argv[1], PARTS[int(sys.argv[2])]",
            "    try:",
            *indented(
                indented(
                    self.opening.opened([f"facts = {wait}part(saver)"], expression="opened(path)")
                )
            ),
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
        coroutine = self.writer.calls.in_coroutine
        text = [*self.functions(), *main(body, coroutine=coroutine)]
        promise = promise_of(contract)
        return script(promise, self.target.name, self.opening, text, self.writer.imports)


def reproducer(target: Target, release: Release, contract: str, odd: Odd, api: str) -> str:
    """Return the source of a script that was run and complained; "" if there is none, or if both
    releases have the store open at the same time.
    """
    handover = HANDOVERS[contract]
    if any(len(roles) > 1 for roles, _ in handover.parts):
        return ""
    try:
        pieces = _Pieces.of(target, release, api, _parts(handover, odd.program), _reads(odd))
        text = pieces.assembled(contract, _handed_over(handover))
    except (NoScriptError, KeyError):
        return ""
    return text if complains_alone(text, contract) else ""


def first_read_reproducer(target: Target, release: Release, contract: str, api: str) -> str:
    """Return the source of a script that was run, and whose first read was not answered; "" if
    there is none.
    """
    try:
        parts = [ONE, (GetTuple(THREAD),)]
        pieces = _Pieces.of(target, release, api, parts, ())
        text = pieces.assembled(contract, _READ_WHILE_WRITTEN)
    except (NoScriptError, KeyError):
        return ""
    return text if complains_alone(text, contract) else ""


def _requirements(release: Release) -> list[str]:
    """Return what is in the folder of a release, as requirements for pip."""
    there = versions_in(Path(release.folder))
    return [f"{name}=={version}" for name, version in sorted(there.items())]


def _parts(handover: Handover, program: Program) -> list[Program]:
    """Return the steps of each part."""
    steps = written(program)
    ends = (0, *(upto(len(steps)) for _, upto in handover.parts))
    return [steps[first:last] for first, last in pairwise(ends)]


def _reads(odd: Odd) -> list[Step]:
    """Return the reads that the releases are asked: everything that the program wrote, and its own
    questions. Delta histories are asked only if one of them is odd.
    """
    reads: list[Step] = []
    for step in odd.program:
        if isinstance(step, Put | PutWrites):
            reads += [
                GetTuple(step.thread, step.namespace),
                GetTuple(step.thread, step.namespace, step.number),
                ListTuples(step.thread),
            ]
        elif not isinstance(step, DeltaHistory) or "delta" in odd.fact:
            reads.append(step)
    return reads


def _handed_over(handover: Handover) -> list[str]:
    """Return the lines that compare what is shown after a handover with what each release shows of
    its own store.
    """
    takers = [roles[0] for roles, _ in handover.parts]
    mixed = ", ".join(map(str, (*takers, handover.readers[0])))
    alone = ("played({})".format(", ".join([str(role)] * (len(takers) + 1))) for role in Which)
    return [
        *_PLAYED,
        f"known = [{', '.join(alone)}]",
        f"observed = played({mixed})",
        "for name in {**known[0], **known[1], **observed}:",
        "    expected = [one.get(name) for one in known]",
        "    if observed.get(name) not in expected:",
        "        " + complaint("{name}: {expected}", "{observed.get(name)}"),
    ]


_READ_WHILE_WRITTEN = (
    "def raised_by_read_of(release):  # while another process writes",
    "    store = tempfile.mkdtemp(dir=path)",
    "    take(release, store, 0, [])",
    '    files = [file for file in pathlib.Path(store).rglob("*") if file.is_file()]',
    '    file = next(f for f in files if f.read_bytes().startswith(b"SQLite format 3"))',
    "    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:",
    '        other.execute("BEGIN IMMEDIATE")',
    '        return take(new, store, 1, [])[1].get("raised")',
    "if own := raised_by_read_of(new):",
    '    raise RuntimeError(f"not answered on a store of its own either: {own}")',
    "if raised := raised_by_read_of(old):",
    "    " + complaint("the latest checkpoint", "{raised}"),
)
