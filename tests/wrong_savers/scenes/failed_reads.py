"""Fails a saver where it reads, and looks at what it answers."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from unittest import mock

from tests.right_savers.file_per_thread import FilePerThread
from tests.wrong_savers.scenes.failing import prepared, watched
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening

_READS = ("get_tuple", "list")
_MOST_STATEMENTS = 20


def answered_without_its_storage(saver: Any, folder: Path) -> bool:
    """Return whether a read is answered otherwise than before when its storage fails."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    fail = _files_fail if issubclass(saver, FilePerThread) else _statements_fail
    found = [fail(probe, name) for name in _READS]
    probe.saver.close()
    return any(found)


def _statements_fail(probe: Probe, name: str) -> bool:
    """Fail each statement of a read, and all from there on."""
    right = probe.call(name, probe.config())
    for place in range(_MOST_STATEMENTS):
        statements: list[str] = []

        def fail(statement: str, ran: list[str] = statements, place: int = place) -> None:
            ran.append(statement)
            if len(ran) > place and statement.startswith("SELECT"):
                raise sqlite3.OperationalError("disk I/O error")

        with watched(probe.saver, fail):
            answer = probe.attempt(lambda: probe.call(name, probe.config()))
        if not isinstance(answer, str) and answer != right:
            return True
    return False


def _files_fail(probe: Probe, name: str) -> bool:
    right = probe.call(name, probe.config())
    with mock.patch.object(Path, "read_text", side_effect=OSError):
        answer = probe.attempt(lambda: probe.call(name, probe.config()))
    return not isinstance(answer, str) and answer != right
