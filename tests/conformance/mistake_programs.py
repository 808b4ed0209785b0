"""Writes anew the shortest program that shows each known mistake.

``python -m tests.conformance.mistake_programs`` hunts each mistake, and writes what it found to
``saverproof/mistakes/programs.json``, one line a mistake.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conformance.selftest_support import hunted

from saverproof.mistakes import MISTAKES
from saverproof.mistakes.programs import PROGRAMS_FILE
from saverproof.scripts import verification

_LONGEST = 5_000
"""Characters of a program: the few that are longer show what takes many steps, and are left out."""


def program_of(name: str) -> tuple[str, Any]:
    """The steps that show a mistake as JSON, or None if no program does."""
    mistake = next(each for each in MISTAKES if each.name == name)
    # A script is of no use here, and takes longer than to find the program.
    verification.complains_alone = lambda text, promise: True
    with TemporaryDirectory() as folder:
        outcome = hunted(mistake, Path(folder), seed=0)
    found = (each.program for each in outcome.findings if each.contract == mistake.breaks)
    return name, next(found, None) or None


def main() -> None:
    """Hunt all of them, two at a time."""
    names = [each.name for each in MISTAKES if not each.hangs and not each.heavy]
    with ProcessPoolExecutor(2) as pool:
        found = {name: program for name, program in pool.map(program_of, names) if program}
    found = {name: p for name, p in found.items() if len(json.dumps(p)) <= _LONGEST}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    PROGRAMS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
