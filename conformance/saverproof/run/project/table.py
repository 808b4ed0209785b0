"""Reads the table ``[tool.saverproof]`` of a project's pyproject.toml.

pytest imports this in every project in which saverproof is installed: the file is parsed only if
its text names the table.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "pyproject.toml"
NAME = "tool.saverproof"
_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]")
_KEY = re.compile(r"\s*[\"']?(?P<key>[\w.-]+)[\"']?\s*=")


@dataclass(frozen=True, slots=True)
class ProjectTable:
    """The content of the table.

    Attributes:
        file: the path of the pyproject.toml.
        text: the whole text of the file.
        values: the table's keys and values.
    """

    file: Path
    text: str
    values: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder that paths in the table are relative to."""
        return self.file.parent

    def place_of(self, key: str) -> str:
        """Return the file and line of a key, for messages; the line of the table if the key cannot
        be found.
        """
        header = 1
        inside = False
        for number, line in enumerate(self.text.splitlines(), 1):
            if found := _HEADER.match(line):
                inside = found["name"] == NAME
                header = number if inside else header
            elif inside and (found := _KEY.match(line)) and found["key"] == key:
                return f"{self.file}:{number}"
        return f"{self.file}:{header}"


def project_table(folder: Path) -> ProjectTable | None:
    """Return the table of the project that ``folder`` is in, from the nearest pyproject.toml
    upwards.

    None if there is no such file or table, or if the file is no TOML, which pytest itself reports.
    """
    file = next((at / FILE for at in (folder, *folder.parents) if (at / FILE).is_file()), None)
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return _table_in(file, text) if "saverproof" in text else None


def _table_in(file: Path, text: str) -> ProjectTable | None:
    try:
        values = tomllib.loads(text).get("tool", {}).get("saverproof")
    except tomllib.TOMLDecodeError:
        return None
    return ProjectTable(file, text, values) if isinstance(values, Mapping) else None
