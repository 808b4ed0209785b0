"""What shows each known mistake alone, in a quick run: ``programs.json``, a line for each.

``make crowd-programs`` writes it anew, in some minutes. A mistake that a quick run does not find
even alone is in no crowd: there is nothing that others could hide.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.steps.codec import from_json
from saverproof.steps.definitions import Program
from tests.crowds.composing import Crowd, asked
from tests.crowds.judging import judge

FILE = Path(__file__).with_name("programs.json")


@cache
def recorded() -> Mapping[str, Any]:
    """The program of each mistake that a quick run finds, as JSON, by the name of the mistake."""
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def program_of(mistake: Mistake) -> Program:
    """The program that shows a mistake alone.

    Raises:
        KeyError: none is recorded.
    """
    return from_json(recorded()[mistake.name])


def _can_be_asked(mistake: Mistake) -> bool:
    """Whether its scene says the same each time, in calls that return, of a saver that is whole."""
    if mistake.hangs or mistake.heavy or contract(mistake.breaks).family == "interface":
        return False
    alone = Crowd((mistake,))
    return bool(asked(alone, mistake.breaks) == asked(alone, mistake.breaks))


def _found(name: str) -> Any:
    """The program by which a quick run shows a mistake; None if it does not."""
    mistake = next(each for each in MISTAKES if each.name == name)
    if not _can_be_asked(mistake):
        return None
    shown = judge(Crowd((mistake,))).findings.get(mistake.breaks)
    return shown[0].program if shown else None


def main() -> None:
    """Write what a quick run shows of each mistake."""
    names = sorted(mistake.name for mistake in MISTAKES)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(names, pool.map(_found, names), strict=True))
    lines = [
        f"{json.dumps(name)}: {json.dumps(program)}"
        for name, program in found.items()
        if program is not None
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
