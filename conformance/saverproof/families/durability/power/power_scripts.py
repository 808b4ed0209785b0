"""Writes standalone scripts that cut the power at every place of a short run, and open the
disks.
"""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.durability.kills.shortening import SMALL
from saverproof.families.durability.kills.workloads import Workload
from saverproof.families.durability.power.power_cuts import Power
from saverproof.families.durability.power.power_disks import KEEPS
from saverproof.programs.small import LONG_VALUE
from saverproof.programs.steps.definitions import Program, Put, PutWrites
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.kill_script import KillScript
from saverproof.scripts.opening import opening_of
from saverproof.scripts.script import complaint
from saverproof.scripts.verification import first_to_complain

MOST = 400
"""The most disks that a script looks at."""
_DISKS = 40
"""How many disks of each run are tried before a script is made for a failed sync. This is a tenth
of what the script looks at: a flaw that is missed here costs only another attempt.
"""
_ANY_NUMBER = "states[: len(image.started) + 1]  # any number of them, each whole"
_NONE_LOST = "states[len(image.acknowledged) : len(image.started) + 1]  # whatever returned"

_OUTLIVING = (
    "if len(sys.argv) == 1:  # a disk may take along the process that opens the store",
    '    ended = subprocess.run([sys.executable, __file__, "alone"]).returncode',
    "    if ended < 0:",
    f"        {complaint('a store that opens', '{signal.Signals(-ended)!r}')}",
    "    sys.exit(ended)",
)


def power_reproducer(
    target: Target, api: str, contract: str, recorder: str, *, deadly: bool
) -> str:
    """Return the source of a script that was run and complained; "" if no short run shows the flaw.

    ``recorder`` is the class that records. ``deadly`` says that a disk may kill the process that
    opens it.
    """
    opening = opening_of(target)
    if opening is None or opening.drop:
        return ""
    runs = (KillScript(opening, program, api, target.name) for program in _programs())
    first = _OUTLIVING if deadly else ()
    texts = (
        run.assembled(contract, (), [*first, *_main(run, recorder, _allowed(contract))])
        for run in runs
    )
    return first_to_complain(texts, contract)


def failing_reproducer(power: Power, contract: str) -> str:
    """Return the source of a script that makes a sync fail before the power cut, and that was run
    and complained; "" if none did.
    """
    target, api = power.bench.target, power.bench.plan.api
    opening = opening_of(target)
    if opening is None or opening.drop:
        return ""

    def texts() -> Iterator[str]:
        for program in _programs():
            short = power.failing_in(Workload("a short run", program), _DISKS)
            short.run()
            flaw = short.failing.flaws.get(contract)
            if flaw is None or flaw.failed is None or flaw.failed.place.operation is None:
                continue
            run = KillScript(opening, program, api, target.name)
            first = _OUTLIVING if short.failing.deadly else ()
            place = flaw.failed.place.number
            lines = _main(run, power.recorder, _allowed(contract), place)
            yield run.assembled(contract, (), [*first, *lines])

    return first_to_complain(texts(), contract)


def _allowed(contract: str) -> str:
    return _NONE_LOST if contract == KEEPS else _ANY_NUMBER


def _programs() -> Iterator[Program]:
    longest_first = sorted(_small(), key=len, reverse=True)
    yield from longest_first[:3]
    yield LONG_VALUE


def _small() -> Iterator[tuple[Put | PutWrites, ...]]:
    for program in SMALL:
        steps = [step for step in program if isinstance(step, Put | PutWrites)]
        if len(steps) == len(program) and isinstance(program[0], Put):
            yield tuple(steps)


def _again(run: KillScript) -> list[str]:
    """Return lines that repeat the saver's calls if they raise."""
    sync = run.calls.api == "sync"
    define, wait = ("def", "") if sync else ("async def", "await ")
    names = "put, put_writes" if sync else "aput, aput_writes"
    return [
        "def again(call):  # as a caller may do",
        f"    {define} twice(*given, **more):",
        "        try:",
        f"            return {wait}call(*given, **more)",
        "        except Exception:",
        f"            return {wait}call(*given, **more)",
        "    return twice",
        f'for name in "{names}".split(", "):',
        "    setattr(saver, name, again(getattr(saver, name)))",
    ]


def _main(run: KillScript, recorder: str, allowed: str, failed_sync: int = 0) -> Iterator[str]:
    wait = run.calls.wait
    insisting = _again(run) if failed_sync else ()
    recording = [
        f"{run.calls.define} note(n):",
        "    if n:",
        "        recorder.acknowledged(n - 1)",
        f"    if n < {len(run.program)}:",
        "        recorder.started(n)",
        *([f"recorder.fail_sync({failed_sync})"] if failed_sync else []),
        *run.opened([*insisting, f"{wait}note(0)", f"{wait}run(saver, note)"]),
        "recording = recorder.recording()",
    ]
    looking = [
        "materialize(image, Path(path))",
        f"allowed = {allowed}",
        "try:",
        *indented(run.opened([f"found = {wait}shown(saver)"])),
        "except Exception as error:",
        f"    {complaint('a store that opens', '{error!r}')} from error",
        "if found not in allowed:",
        f"    {complaint('one of {allowed}', '{found}')}",
    ]
    # Before anything else is done: calls of threads that are there already would not be recorded.
    yield from run.opening.in_folder(recording, f"{recorder}(path) as recorder")
    yield from run.clean()
    if failed_sync:
        yield "if not (since := failed_at(recording)):"
        yield '    raise RuntimeError("no sync failed")'
        yield f"for image in PowerCuts(recording, cap={MOST}, since=since):"
    else:
        yield f"for image in PowerCuts(recording, cap={MOST}):"
    yield from indented(run.opening.in_folder(looking))
