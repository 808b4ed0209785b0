"""Copies the files of a store."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def copy_files(source: Path, target: Path) -> None:
    """Copy the files of a store into a folder.

    Sockets and pipes are left out: they belong to a process, and a copy would lead nowhere.
    """
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=_without_contents)


def _without_contents(folder: str, names: Iterable[str]) -> set[str]:
    return {name for name in names if _leads_to_a_process(os.path.join(folder, name))}


def _leads_to_a_process(path: str) -> bool:
    with suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)
    return False
