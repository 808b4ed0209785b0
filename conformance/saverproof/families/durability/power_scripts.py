"""Standalone scripts that cut the power in a short run at every place, and open what is left."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.families.durability.power import KEEPS
from saverproof.families.durability.shortening import SMALL
from saverproof.programs.small import LONG_VALUE
from saverproof.programs.steps.definitions import Put, PutWrites
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.kill_script import KillScript
from saverproof.scripts.opening import opening_of
from saverproof.scripts.script import complaint
from saverproof.scripts.verification import first_to_complain

MOST = 400
"""Disks that a script looks at."""
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
    """The source of a script that was run and complained; "" if no short run shows the flaw.

    ``recorder`` is the class that records; ``deadly`` says that a disk may take along the process
    that opens it.
    """
    opening = opening_of(target)
    if opening is None or opening.drop:
        return ""
    longest_first = sorted(_programs(), key=len, reverse=True)
    programs = (*longest_first[:3], LONG_VALUE)
    runs = (KillScript(opening, program, api, target.name) for program in programs)
    allowed = _NONE_LOST if contract == KEEPS else _ANY_NUMBER
    first = _OUTLIVING if deadly else ()
    texts = (run.assembled(contract, (), [*first, *_main(run, recorder, allowed)]) for run in runs)
    return first_to_complain(texts, contract)


def _programs() -> Iterator[tuple[Put | PutWrites, ...]]:
    for program in SMALL:
        steps = [step for step in program if isinstance(step, Put | PutWrites)]
        if len(steps) == len(program) and isinstance(program[0], Put):
            yield tuple(steps)


def _main(run: KillScript, recorder: str, allowed: str) -> Iterator[str]:
    wait = run.calls.wait
    recording = [
        f"{run.calls.define} note(n):",
        "    if n:",
        "        recorder.acknowledged(n - 1)",
        f"    if n < {len(run.program)}:",
        "        recorder.started(n)",
        *run.opened([f"{wait}note(0)", f"{wait}run(saver, note)"]),
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
    yield f"for image in PowerCuts(recording, cap={MOST}):"
    yield from indented(run.opening.in_folder(looking))
