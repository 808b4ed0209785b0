"""What a child process needs to find the same code: the invocation folder and ``sys.path``."""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


def ordered_alike() -> dict[str, str]:
    """The environment for a process in which sets have the same order in each run: a saver that
    goes through one writes, and costs, the same then. Who sets PYTHONHASHSEED has it their way.
    """
    return {"PYTHONHASHSEED": "0", **os.environ}


@dataclass(frozen=True, slots=True)
class Setting:
    """Working folder and import path of a run, handed to every child process."""

    folder: str
    path: tuple[str, ...]

    @classmethod
    def current(cls, folder: str | os.PathLike[str] | None = None) -> Self:
        """This process's setting, with ``folder`` (default: the working folder) first on the
        path.
        """
        first = os.path.abspath(folder or os.getcwd())
        rest = [os.path.abspath(entry) for entry in sys.path if entry]
        return cls(first, tuple(dict.fromkeys([first, *rest])))

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a child process."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The setting that ``to_json`` gave."""
        return cls(data["folder"], tuple(data["path"]))

    def apply(self) -> None:
        """Make this process work in the same folder and import from the same places."""
        os.chdir(self.folder)
        sys.path[:] = self.path
