"""Adapt where a finding's script looks for a saver that is not installed."""

import ast
import os
import re
from pathlib import Path

_ABSOLUTE = re.compile(r"^sys\.path\.insert\(0, (?P<folder>[\"'].*[\"'])\)$", re.MULTILINE)


def from_its_place(script: str, project: Path, place: Path) -> str:
    """Return the script with paths to folders of ``project`` relative to ``place``, its own folder.

    Then the script names no folder of this machine, and runs wherever the project is.
    """

    def named(line: re.Match[str]) -> str:
        folder = Path(ast.literal_eval(line["folder"]))
        if not folder.is_relative_to(project):
            return line[0]
        # The first entry is the script's own folder, and stays the first for the next line.
        return f'sys.path.insert(1, sys.path[0] + "/{os.path.relpath(folder, place)}")'

    return _ABSOLUTE.sub(named, script)
