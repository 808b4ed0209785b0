"""The private place in which one program is run on a saver."""

import re
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a saver under test keeps its data: a folder for files, a name for everything else.

    ``path`` exists, belongs to this program alone, and is empty the first time. ``name`` is unique
    and fit for a database, schema or key prefix (``[a-z][a-z0-9_]{0,39}``). A target's function is
    called again, often from a new process, with an equal workspace, and must then show the same
    data.
    """

    path: Path
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.path, Path):
            raise TypeError(f"Workspace.path is {type(self.path).__name__}, expected pathlib.Path")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError(f"Workspace.name is {self.name!r:.80}, expected {_NAME.pattern}")
