"""What shows each known mistake alone, in a quick run: ``programs.json``, a line for each.

``make crowd-programs`` adds what is missing; after a change of the judges, empty the file first. A
mistake that a quick run does not find even alone (null) is in no crowd: there is nothing that
others could hide.
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
from tests.crowds.composing import Crowd, asked
from tests.crowds.judging import judge

FILE = Path(__file__).with_name("programs.json")


@cache
def recorded() -> Mapping[str, Any]:
    """The name of each mistake -> the program by which a quick run shows it, as JSON, or None."""
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


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
    """Write what a quick run shows of each mistake that the file does not have."""
    known = {mistake.name: recorded().get(mistake.name) for mistake in MISTAKES}
    missing = sorted(known.keys() - recorded().keys())
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        known |= zip(missing, pool.map(_found, missing), strict=True)
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
