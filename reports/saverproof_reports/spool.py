"""The spool: what has happened in a run so far, on disk, so that a killed run leaves a report.

It has one JSON object a line. One process, the controller of the run, writes it, each line at once;
it can be read at any time.
"""

import json
import os
from pathlib import Path
from typing import Any, Self

from saverproof_reports.errors import ReportError
from saverproof_reports.files import private_folder
from saverproof_reports.text import harmless_data, one_line

SPOOL = "spool.jsonl"
"""The name of the spool in the folder of a run."""


class Spool:
    """A new spool file at ``path``, readable by its owner alone. An older one is replaced."""

    def __init__(self, path: Path) -> None:
        private_folder(path.parent)
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self.path = path
        self._handle: int | None = os.open(path, flags, 0o600)

    def append(self, event: dict[str, Any]) -> None:
        """Add ``event``, plain data. It survives the death of this process."""
        if self._handle is None:
            raise ReportError(f"{one_line(str(self.path))}: the spool is closed")
        line = json.dumps(event, ensure_ascii=True, default=harmless_data).encode() + b"\n"
        while line:
            line = line[os.write(self._handle, line) :]

    def close(self) -> None:
        """Close the file, which stays. Closing twice does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def read_spool(path: Path) -> list[dict[str, Any]]:
    """Return the events in the spool at ``path``, in order.

    A last line that a kill cut is left out.

    Raises:
        ReportError: the file cannot be read, or another line is broken; the message is one line.
    """
    where = one_line(str(path))
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ReportError(f"{where}: cannot be read: {error.strerror}") from error
    # What follows the last newline is cut, or empty.
    return [_event(line, f"{where}, line {number}") for number, line in enumerate(lines[:-1], 1)]


def _event(line: bytes, where: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise ReportError(f"{where}: is not JSON, expected an event") from error
    if not isinstance(event, dict):
        raise ReportError(f"{where}: found {type(event).__name__}, expected an event object")
    return event
