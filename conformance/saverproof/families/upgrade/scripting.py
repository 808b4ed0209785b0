"""Writes standalone scripts of what a store loses, or does not take, between two releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from saverproof.contracts.tables import upgrade
from saverproof.families.upgrade.handovers import HANDOVERS
from saverproof.families.upgrade.programs import written
from saverproof.families.upgrade.release_script import PLAYED, ReleaseScript, compared
from saverproof.families.upgrade.setting_up import AT_ONCE, PROGRAMS, Trouble
from saverproof.families.upgrade.trials import Handover, Odd, Which
from saverproof.programs.small import ONE, THREAD
from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutWrites,
    SetUp,
    Step,
)
from saverproof.savers.releases.installed import Release
from saverproof.savers.targets.target import Target
from saverproof.scripts.flaky import tried_often
from saverproof.scripts.formatting import indented
from saverproof.scripts.script import complaint
from saverproof.scripts.statements import NoScriptError, delta_history, read
from saverproof.scripts.verification import complains_alone

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


def reproducer(
    target: Target,
    release: Release,
    contract: str,
    odd: Odd,
    api: str,
    others: Sequence[Handover] = (),
) -> str:
    """Return the source of a script that was run and complained; "" if there is none, or if both
    releases have the store open at the same time. What one of the ``others`` shows is no complaint.
    """
    handover = HANDOVERS[contract]
    if any(len(roles) > 1 for roles, _ in handover.parts):
        return ""

    def text() -> str:
        written_by_all = ReleaseScript.of(target, release, api, odd.program)
        for part in _parts(handover, odd.program):
            written_by_all.write(part)
        _add_reads(written_by_all, _reads(odd.program, deltas="delta" in odd.fact))
        return written_by_all.assembled(contract, _handed_over(handover, others))

    return _tried(text, contract)


def first_read_reproducer(target: Target, release: Release, api: str) -> str:
    """Return the source of a script that was run, and whose first read was not answered; "" if
    there is none.
    """
    contract = upgrade.FIRST_READ_WAITS_FOR_NOBODY.id

    def text() -> str:
        reading = ReleaseScript.of(target, release, api, ONE)
        reading.write(ONE)
        reading.write((GetTuple(THREAD),))
        return reading.assembled(contract, _READ_WHILE_WRITTEN)

    return _tried(text, contract)


def set_up_reproducer(target: Target, release: Release, trouble: Trouble, api: str) -> str:
    """Return the source of a script that was run, and whose old store could not be set up, or was
    not whole afterwards; "" if there is none.
    """
    contract = upgrade.SETUP_ON_OLD_STORE.id
    program = tuple(step for one in PROGRAMS for step in one)

    def text() -> str:
        setting_up = ReleaseScript.of(target, release, api, (*program, SetUp()))
        setting_up.write(program)
        setting_up.write((SetUp(),))
        if trouble.place is None:
            return setting_up.assembled(contract, _SET_UP_AT_ONCE)
        _add_reads(setting_up, _reads(program, deltas=False))
        # The script may begin to count at another call than the kit.
        places = [*range(max(0, trouble.place - 1), trouble.place + 2)]
        known = {"by_old": "played(old, old, old)", "by_new": "played(new, new, new)"}
        if trouble.beside:
            known["undisturbed"] = "played(old, new, new)"
        trials = [
            *(f"{name} = {call}" for name, call in known.items()),
            f"for place in {places}:",
            *indented([*_KILLED_AND_AGAIN, *compared("seen", *known)]),
        ]
        return setting_up.assembled(contract, [*PLAYED, *trials], _DYING, _DIE_AT)

    return _tried(text, contract, tried_often if trouble.place is None else _once)


def _once(text: str, contract: str) -> str:
    """Return a script if it complains; else "". Nothing in it depends on chance."""
    return text if complains_alone(text, contract) else ""


def _tried(text: Callable[[], str], contract: str, tried: Callable[[str, str], str] = _once) -> str:
    """Return what trying a script makes of it; "" if it cannot be written."""
    try:
        return tried(text(), contract)
    except (NoScriptError, KeyError):
        return ""


def _parts(handover: Handover, program: Program) -> list[Program]:
    """Return the steps of each part."""
    steps = written(program)
    ends = (0, *(upto(len(steps)) for _, upto in handover.parts))
    return [steps[first:last] for first, last in pairwise(ends)]


def _reads(program: Program, *, deltas: bool) -> Iterator[Step]:
    """Yield the reads that the releases are asked: of everything that the program wrote, and its
    own questions.
    """
    for step in program:
        if isinstance(step, Put | PutWrites):
            yield GetTuple(step.thread, step.namespace)
            yield GetTuple(step.thread, step.namespace, step.number)
            yield ListTuples(step.thread)
        elif deltas or isinstance(step, GetTuple | ListTuples):
            yield step


def _add_reads(by_releases: ReleaseScript, steps: Iterator[Step]) -> None:
    """Add the part that reads, and tells facts by their names."""
    writer = by_releases.writer
    reads, deltas = dict[str, None](), dict[str, None]()
    for step in steps:
        match step:
            case GetTuple():
                reads[f"[{read(step, writer)}]"] = None
            case ListTuples():
                reads[writer.listing(*writer.list_arguments(step))] = None
            case DeltaHistory():
                deltas[delta_history(step, writer)] = None
    lines = [
        "found = {}",
        f"for n, tuples in enumerate([{', '.join(reads)}]):",
        "    ids = {}",
        "    for one in filter(None, tuples):",
        *indented(indented(_FACTS_OF_ONE)),
        '    found[f"ids of read {n}"] = text(sorted(ids.items()))',
        *(f'found["delta history {n}"] = text({delta})' for n, delta in enumerate(deltas)),
    ]
    comment = "no versions, of which each release makes its own"
    by_releases.add("shown", lines, returns="found", comment=comment)


def _handed_over(handover: Handover, others: Sequence[Handover]) -> list[str]:
    """Return the lines that compare what is shown after a handover with what each release shows of
    its own store, and with what is shown after the others.
    """
    count = len(handover.parts)
    known = [(role,) * (count + 1) for role in Which]
    known += [_takers(other, count) for other in others]
    return [*PLAYED, *compared(_played(_takers(handover, count)), *map(_played, known))]


def _takers(handover: Handover, count: int) -> tuple[Which, ...]:
    """Return the releases that take this many parts, the last one as often as it needs, and the
    one that reads.
    """
    takers = [roles[0] for roles, _ in handover.parts]
    takers += takers[-1:] * (count - len(takers))
    return *takers, handover.readers[0]


def _played(releases: Sequence[Which]) -> str:
    """Return the call by which these releases take one part each."""
    return f"played({', '.join(releases)})"


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
_ROUNDS = 10
"""How often a script lets several processes set a store up at once: chance decides what meets."""
_SET_UP_AT_ONCE = (
    f"for _ in range({_ROUNDS}):",
    "    store = tempfile.mkdtemp(dir=path)",
    "    take(old, store, 0, [])",
    f"    with ThreadPoolExecutor({AT_ONCE}) as pool:",
    f"        ended = [*pool.map(lambda _: take(new, store, 1, [])[1], range({AT_ONCE}))]",
    '    if raised := [facts["raised"] for facts in ended if "raised" in facts]:',
    "        " + complaint(f"{AT_ONCE} processes set it up at once", "{raised[0]}"),
)
_KILLED_AND_AGAIN = (
    "store = tempfile.mkdtemp(dir=path)",
    "take(old, store, 0, [])",
    "take(new, store, 1, [], str(place))  # dies while it opens the store and sets it up",
    "again = {1: take(new, store, 1, [])[1], 2: take(new, store, 2, [])[1]}",
    'seen = {f"part {n + 1}: {name}": told for n in again for name, told in again[n].items()}',
)
_DYING = ("if len(sys.argv) > 4:", "    die_at(int(sys.argv[4]))")
_DIE_AT = (
    "def die_at(place):  # at a call of the driver",
    "    left = iter(range(place, -1, -1))",
    "    def note(_, event, callee):",
    '        module = type(getattr(callee, "__self__", None)).__module__.partition(".")[0]',
    '        known = sys.stdlib_module_names - {"sqlite3", "_sqlite3"}',
    '        if event == "c_call" and module not in known and next(left) == 0:',
    "            os.kill(os.getpid(), signal.SIGKILL)",
    "    sys.setprofile(note), threading.setprofile(note)",
)
