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
    """The place where a saver under test keeps its data: a folder for files, a name for all else.

    ``path`` exists, belongs to this program alone, and is empty the first time. ``name`` is unique,
    and can name a database, schema or key prefix (``[a-z][a-z0-9_]{0,39}``). A target's function is
    called again with an equal workspace, often from a new process, and must then show the same
    data. ``dsn`` is the DSN of a place in the server that the target asked for
    (``target(server=...)``), which belongs to this program alone; without a server it is empty.
    """

    path: Path
    name: str
    dsn: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data for another process."""
        return {"path": str(self.path), "name": self.name, "dsn": self.dsn}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Workspace:
        """Make a workspace from the result of ``to_json``; ``data`` may have further keys."""
        return cls(Path(data["path"]), data["name"], data["dsn"])

    def __post_init__(self) -> None:
        if not isinstance(self.path, Path):
            raise TypeError(f"Workspace.path is {type(self.path).__name__}, expected pathlib.Path")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError(f"Workspace.name is {self.name!r:.80}, expected {_NAME.pattern}")
