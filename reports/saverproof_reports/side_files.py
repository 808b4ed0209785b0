"""The scripts and artefacts that lie beside a report, where it moves to another folder."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from saverproof_reports.artefacts import read_artefact
from saverproof_reports.errors import ReportError
from saverproof_reports.storage import violations

Report = dict[str, Any]


def with_artefacts(report: Report, folder: Path) -> Report:
    """Return ``report``, read from ``folder``, with the artefacts that lie there."""
    for violation in violations(report):
        if (path := violation["artefact"]) and "artefact_data" not in violation:
            try:
                violation["artefact_data"] = read_artefact(folder / path)
            except ReportError:
                # The file was moved or changed: the finding stays, and cannot be replayed.
                violation["artefact"] = None
    return report


def files_apart(reports: Iterable[Report]) -> list[Report]:
    """Return the reports, with files of their own for each: several may have used one name."""
    taken: set[str] = set()
    found = []
    for report in reports:
        names = {
            violation[kind]
            for violation in violations(report)
            for kind in ("reproducer", "artefact")
            if violation[kind]
        }
        fresh = {name: _unused(name, taken) for name in sorted(names)}
        for violation in violations(report):
            for kind in ("reproducer", "artefact"):
                violation[kind] = fresh.get(violation[kind], violation[kind])
        taken |= {*fresh.values()}
        found.append(report)
    return found


def _unused(name: str, taken: set[str]) -> str:
    path, number, candidate = PurePosixPath(name), 1, name
    while candidate in taken:
        number += 1
        candidate = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
    return candidate
