"""The private place in which one program is run on a saver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a saver under test keeps its data: a folder for files, a name for everything else.

    ``path`` exists, belongs to this program alone, and is empty the first time. ``name`` is unique
    and fit for a database, schema or key prefix (``[a-z][a-z0-9_]{0,39}``). A target's function is
    called again, often from a new process, with an equal workspace, and must then show the same
    data. ``dsn`` is how a driver reaches the place that belongs to this program alone in the server
    that the target asked for (``target(server=...)``); empty without one.
    """

    path: Path
    name: str
    dsn: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data, for another process."""
        return {"path": str(self.path), "name": self.name, "dsn": self.dsn}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Workspace:
        """The workspace that ``to_json`` gave; ``data`` may hold more."""
        return cls(Path(data["path"]), data["name"], data["dsn"])

    def __post_init__(self) -> None:
        if not isinstance(self.path, Path):
            raise TypeError(f"Workspace.path is {type(self.path).__name__}, expected pathlib.Path")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError(f"Workspace.name is {self.name!r:.80}, expected {_NAME.pattern}")
