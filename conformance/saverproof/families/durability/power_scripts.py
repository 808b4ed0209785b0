"""Standalone scripts that cut the power in a short run at every place, and open what is left."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.contracts.registry import contract as contract_of
from saverproof.contracts.tables import durability
from saverproof.families.durability.scripting import KillScript
from saverproof.families.durability.shortening import SMALL
from saverproof.scripts.assembling import indented
from saverproof.scripts.opening import opening_of, opens_asynchronously
from saverproof.scripts.speaking import Speaker
from saverproof.scripts.trying import complains_alone
from saverproof.steps.definitions import Put, PutWrites
from saverproof.targets.target import Target

POWER = durability.POWER_CUT.id
MOST = 400
"""Disks that a script looks at."""
_IMPORTS = (
    "from pathlib import Path",
    "from saverproof_faults.io import Recorder",
    "from saverproof_faults.power import PowerCuts, materialize",
)


def power_reproducer(target: Target, api: str) -> str:
    """The source of a script that was run and complained; "" if no short run shows the flaw."""
    opening = opening_of(target)
    if opening is None or opening.drop:
        return ""
    speaker = Speaker(api, opens_asynchronously(target), opening.expression)
    longest_first = sorted(_programs(), key=len, reverse=True)
    for program in longest_first[:3]:
        run = KillScript(speaker, opening, program, target.name)
        text = run.assembled(
            f"{POWER}: {contract_of(POWER).statement}", (), _IMPORTS, list(_main(run))
        )
        if complains_alone(text, POWER):
            return text
    return ""


def _programs() -> Iterator[tuple[Put | PutWrites, ...]]:
    for program in SMALL:
        steps = [step for step in program if isinstance(step, Put | PutWrites)]
        if len(steps) == len(program) and isinstance(program[0], Put):
            yield tuple(steps)


def _main(run: KillScript) -> Iterator[str]:
    yield from run.stored(run.clean())
    recording = [
        f"{run.define} note(n):",
        "    if n: recorder.acknowledged(n - 1)",
        f"    if n < {len(run.program)}: recorder.started(n)",
        *run.speaker.with_saver(
            ["recorder.settled()", f"{run.wait}note(0)", f"{run.wait}run(saver, note)"]
        ),
        "recording = recorder.recording()",
    ]
    looking = [
        "materialize(image, Path(path))",
        "allowed = states[: len(image.started) + 1]  # any number of them, each whole",
        "try:",
        *indented(run.speaker.with_saver([f"found = {run.wait}shown(saver)"])),
        "except Exception as error:",
        '    raise SystemExit(f"{__doc__}\\nthe store does not open: {error!r}") from error',
        "if found not in allowed:",
        '    raise SystemExit(f"{__doc__}\\nexpected one of: {allowed}\\nfound: {found}")',
    ]
    yield from ("with tempfile.TemporaryDirectory() as path, Recorder(path) as recorder:",)
    yield from indented(recording)
    yield f"for image in PowerCuts(recording, cap={MOST}):"
    yield "    with tempfile.TemporaryDirectory() as path:"
    yield from indented(indented(looking))
