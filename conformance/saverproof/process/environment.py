"""The setting of a child process: where it finds the same code, and whose its folders are."""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from saverproof.process.scratch import belong_to


def ordered_alike() -> dict[str, str]:
    """Return an environment for processes in which sets have the same order in each run.

    Then a saver that iterates over a set writes, and costs, the same. A PYTHONHASHSEED that the
    user has set stays.
    """
    return {"PYTHONHASHSEED": "0", **os.environ}


@dataclass(frozen=True, slots=True)
class Setting:
    """The working folder and import path of a run, which every child process takes over.

    ``token`` is the run's, for the names of scratch folders; "" outside of runs.
    """

    folder: str
    path: tuple[str, ...]
    token: str = ""

    @classmethod
    def current(cls, folder: str | os.PathLike[str] | None = None, token: str = "") -> Self:
        """Return this process's setting, with ``folder`` first on the path.

        By default ``folder`` is the working folder.
        """
        first = os.path.abspath(folder or os.getcwd())
        rest = [os.path.abspath(entry) for entry in sys.path if entry]
        return cls(first, tuple(dict.fromkeys([first, *rest])), token)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a child process."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a setting from the result of ``to_json``."""
        return cls(data["folder"], tuple(data["path"]), data["token"])

    def apply(self) -> None:
        """Change to the folder, import from the path, and make scratch folders of the run."""
        os.chdir(self.folder)
        sys.path[:] = self.path
        belong_to(self.token)
