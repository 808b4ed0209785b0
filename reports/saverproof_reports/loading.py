"""Load the report of a run, whether the run came to its end or was killed."""

from pathlib import Path
from typing import Any

from saverproof_reports.errors import ReportError
from saverproof_reports.events import report_of
from saverproof_reports.spool import SPOOL, read_spool
from saverproof_reports.storage import read_report
from saverproof_reports.text import one_line
from saverproof_reports.validation import validate


def load_report(path: Path) -> dict[str, Any]:
    """Return the report that ``path`` stands for: a report.json, a folder, or a run's spool.

    A folder with a spool belongs to a run that was killed, or still goes on: the report is what it
    has finished.

    Raises:
        ReportError: nothing of it can be used; the message is one line.
    """
    spool = path / SPOOL if path.is_dir() else path
    if spool.name != SPOOL or not spool.is_file():
        return read_report(path)
    events = read_spool(spool)
    try:
        report = report_of(events)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"{type(error).__name__} {error}"
        raise ReportError(f"{one_line(str(spool))}: is no spool of a run ({found})") from error
    problems = validate(report)
    if problems:
        raise ReportError(f"{one_line(str(spool))}: {problems[0]}")
    return report
