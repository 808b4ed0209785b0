"""Writes anew the shortest program that shows each known mistake, and which facts it shows.

``python -m tests.conformance.mistake_programs`` hunts each mistake, and writes what it found to
``programs.json`` and ``shown.json`` in ``saverproof/mistakes``, one line a mistake. Names of
mistakes hunt these alone, and leave the programs of the others.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conformance.selftest_support import hunted

from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import PROGRAMS_FILE, SHOWN_FILE, programs
from saverproof.programs.small import OTHER, THREAD, batch
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import CopyThread, ListTuples, Program, Put
from saverproof.savers.targets.event_loop import EventLoop, Loop
from saverproof.savers.targets.target import Target
from saverproof.scripts import verification

_CROSSED_PATHS = (
    replace(batch(THREAD, 1, 1, 1), path="~__pregel_pull, agent"),
    replace(batch(THREAD, 1, 2, 1), path="~__pregel_pull, tools"),
)
"""Two tasks whose paths order their writes in another way than their ids do."""
PLAINEST: dict[str, Program] = {
    "copied-writes-without-their-path": (
        Put(THREAD, "", 1),
        *_CROSSED_PATHS,
        CopyThread(THREAD, OTHER),
    ),
    "list-always-raises": (Put(THREAD, "", 1), ListTuples(THREAD)),
    "put-writes-always-raises": (Put(THREAD, "", 1), batch(THREAD, 1, 1, 1)),
}
"""Programs in place of the shortest ones: a call that always raises is told by the plainest call,
where ``list(None)`` or an empty batch may raise alone. What a copy loses is shown where a saver
that never had it shows it, too: beside that mistake, nobody knows of this one.
"""
_LONGEST = 5_000
"""Characters of a program: the few that are longer show what takes many steps, and are left out."""


def program_of(name: str) -> tuple[str, Any]:
    """The steps that show a mistake as JSON, or None if no program does."""
    mistake = next(each for each in MISTAKES if each.name == name)
    if name in PLAINEST:
        return name, to_json(PLAINEST[name])
    # A script is of no use here, and takes longer than to find the program.
    verification.complains_alone = lambda text, promise: True
    with TemporaryDirectory() as folder:
        outcome = hunted(mistake, Path(folder), seed=0)
    found = (each.program for each in outcome.findings if each.contract == mistake.breaks)
    return name, next(found, None) or None


def facts_shown(mistake: Mistake, program: Any, loop: Loop, folder: Path) -> list[str]:
    """The names of the facts that differ in a program on a saver with one mistake."""
    apis = ("sync", "async") if mistake.breaks.startswith("parity/") else mistake.apis[:1]
    trials = Trials(Target(name="wrong", open=mistake.make), folder, loop, apis)
    runs = (
        trials.replay(from_json(program), thorough=thorough, watch_inputs=watched)
        for thorough in (True, False)
        for watched in (True, False)
    )
    return sorted({breach.difference.kind.name for run in runs for breach in run.breaches})


def main(chosen: list[str]) -> None:
    """Hunt the chosen ones, or all of them, two at a time."""
    names = [each.name for each in MISTAKES if not each.hangs and not each.heavy]
    hunted_now = [name for name in names if not chosen or name in chosen]
    found = {name: p for name, p in programs().items() if name in names and name not in hunted_now}
    with ProcessPoolExecutor(2) as pool:
        found |= {name: program for name, program in pool.map(program_of, hunted_now) if program}
    found = {name: p for name, p in found.items() if len(json.dumps(p)) <= _LONGEST}
    _write(PROGRAMS_FILE, found)
    mistakes = {each.name: each for each in MISTAKES}
    with TemporaryDirectory() as folder, EventLoop() as loop:
        shown = {n: facts_shown(mistakes[n], p, loop, Path(folder)) for n, p in found.items()}
    _write(SHOWN_FILE, shown)


def _write(file: Path, found: dict[str, Any]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
