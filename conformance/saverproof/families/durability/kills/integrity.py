"""Checks whether a store is sound, by the target's own check or by SQLite's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from saverproof.errors import describe
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace


def wrong_with(target: Target, workspace: Workspace) -> list[str]:
    """Return one line for each thing that is wrong, by the target's check, or by PRAGMA
    integrity_check of each SQLite file of the workspace.

    Call it while the saver is open, since opening a database repairs it.
    """
    if target.check is not None:
        try:
            return list(target.check(workspace))
        except Exception as error:  # noqa: BLE001 - the author's code met a broken store
            return [f"the target's check raised {describe(error)}"]
    return [line for path in sqlite_files(workspace.path) for line in _wrong_with(path)]


def _wrong_with(path: Path) -> list[str]:
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check")]
    except sqlite3.Error as error:
        return [f"{path.name}: {describe(error)}"]
    return [] if found == ["ok"] else [f"{path.name}: {line}" for line in found]
