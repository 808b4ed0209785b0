"""The environment of a child process: its working folder and import path, and the run to which its
scratch folders belong.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from saverproof.process.scratch import belong_to, keep_temporary_files_in


def ordered_alike() -> dict[str, str]:
    """Return environment variables with which sets have the same order in each run.

    A saver that iterates over a set then makes the same calls each time. A PYTHONHASHSEED that the
    user has set stays.
    """
    return {"PYTHONHASHSEED": "0", **os.environ}


_OF_LANGGRAPH = ("LANGGRAPH_STRICT_MSGPACK",)
"""Variables by which LangGraph reads what is stored in another way."""


def set_for_langgraph() -> dict[str, str]:
    """Return the environment variables of LangGraph that change what a saver has to give back, as
    far as they are set.
    """
    return {name: os.environ[name] for name in _OF_LANGGRAPH if name in os.environ}


@dataclass(frozen=True, slots=True)
class Setting:
    """The working folder and import path of a run, which every child process takes over.

    ``token`` is the run's token in the names of scratch folders; "" outside of runs. ``temporary``
    is the folder for temporary files; "" where they stay in the system's.
    """

    folder: str
    path: tuple[str, ...]
    token: str = ""
    temporary: str = ""

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
        return cls(data["folder"], tuple(data["path"]), data["token"], data["temporary"])

    def apply(self) -> None:
        """Change to the folder, use the import path, give scratch folders the run's token, and make
        temporary files where the setting says.
        """
        os.chdir(self.folder)
        sys.path[:] = self.path
        belong_to(self.token)
        if self.temporary:
            keep_temporary_files_in(self.temporary)
