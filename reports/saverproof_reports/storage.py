"""A report as a folder: report.json, report.md, report.html, reproducers, artefacts."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from saverproof_reports.artefacts import artefact_text
from saverproof_reports.assembly import SCHEMA
from saverproof_reports.document import markdown
from saverproof_reports.errors import ReportError
from saverproof_reports.files import private_folder, write_private
from saverproof_reports.page import html
from saverproof_reports.reading import read_json
from saverproof_reports.validation import validate

_OWN = ("report.md", "report.html", "report.json")


def write_report(report: Mapping[str, Any], folder: Path) -> Path:
    """Write an assembled ``report`` to ``folder``, and return the path of its report.json.

    Each file is written whole or not at all, readable by its owner alone, report.json last. The
    reproducers and artefacts of an earlier report in ``folder`` are removed.

    Raises:
        ReportError: ``report`` breaks its schema.
        OSError: the folder cannot be written.
    """
    plain = _without_artefacts(report)
    found = validate(plain)
    if found:
        raise ReportError(f"the report breaks its own schema: {found[0]}")
    texts = dict(_side_files(report))
    outdated = _listed(folder) - texts.keys()
    private_folder(folder)
    for relative, text in texts.items():
        private_folder((folder / relative).parent)
        write_private(folder / relative, text)
    for name, write in zip(_OWN, (markdown, html, _json), strict=True):
        write_private(folder / name, write(plain))
    for relative in outdated:
        (folder / relative).unlink(missing_ok=True)
    return folder / "report.json"


def read_report(path: Path) -> dict[str, Any]:
    """Return the report in the file or folder ``path``.

    Raises:
        ReportError: the file is missing, unreadable, cut short, of another version, or not a
            report; the message is one line.
    """
    file = path / "report.json" if path.is_dir() else path
    return read_json(file, SCHEMA, "report-1")


def remove_report(folder: Path) -> None:
    """Remove the report in ``folder`` with its reproducers and artefacts.

    Nothing is touched if report.json is missing, or is another program's.
    """
    try:
        listed = _listed_in(read_report(folder))
    except ReportError:
        return
    for relative in (*listed, *_OWN):
        (folder / relative).unlink(missing_ok=True)
    for parent in {(folder / relative).parent for relative in listed}:
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def violations(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every violation in ``report``, also of contracts that the run is not about."""
    for judged in report["savers"]:
        for contract in judged["contracts"]:
            yield from contract["violations"]
        yield from judged.get("beside", ())


def _json(report: Mapping[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def _without_artefacts(report: Mapping[str, Any]) -> dict[str, Any]:
    return {**report, "savers": [_plain(judged) for judged in report["savers"]]}


def _plain(judged: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saver's results without what goes into files of its own."""
    contracts = [
        {**contract, "violations": list(map(_without_artefact, contract["violations"]))}
        for contract in judged["contracts"]
    ]
    beside = (
        {"beside": list(map(_without_artefact, judged["beside"]))} if "beside" in judged else {}
    )
    return {**judged, "contracts": contracts, **beside}


def _without_artefact(violation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in violation.items() if key != "artefact_data"}


def _side_files(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for violation in violations(report):
        if violation["reproducer"] and "reproducer_source" in violation:
            yield violation["reproducer"], violation["reproducer_source"]
        if violation["artefact"] and "artefact_data" in violation:
            yield violation["artefact"], artefact_text(violation["artefact_data"])


def _listed(folder: Path) -> set[str]:
    """Return the reproducers and artefacts that the report in ``folder`` names, if there is one."""
    try:
        return _listed_in(read_report(folder))
    except ReportError:
        return set()


def _listed_in(report: Mapping[str, Any]) -> set[str]:
    return {
        violation[kind]
        for violation in violations(report)
        for kind in ("reproducer", "artefact")
        if violation[kind]
    }
