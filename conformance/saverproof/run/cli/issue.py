"""``saverproof issue``: a finding as an issue for its saver's own project. It sends nothing."""

import re
from pathlib import Path
from typing import Any

import click

from saverproof.contracts.registry import UnknownContract, contract
from saverproof_reports import ReportError, load_report, read_artefact
from saverproof_reports.causes import also_broken, cause_of
from saverproof_reports.text import one_line
from saverproof_reports.upstream import Told, issue


@click.command(name="issue", short_help="Print a finding as an issue for its saver's project.")
@click.argument("artefact", type=click.Path(path_type=Path))
def command(artefact: Path) -> None:
    """Print the finding of ARTEFACT as an issue, in the headings of LangGraph's bug form.

    ARTEFACT is a file that a run left in .saverproof/artefacts. The script, what was expected and
    observed, and what else breaks by the same cause are read from the report beside it. It prints,
    and sends nothing. Look for an issue of the same cause before you file it.

    \b
        saverproof issue .saverproof/artefacts/FILE.json > issue.md

    \b
    exit status 0  it was printed
    exit status 2  the file cannot be used
    """
    recorded = read_artefact(artefact)
    told, cause = _told(recorded, artefact)
    if cause is not None:
        click.echo(f"{cause} has the same cause: an issue on it is the one to file", err=True)
    click.echo(issue(recorded, told), nl=False)


def _told(recorded: dict[str, Any], artefact: Path) -> tuple[Told, str | None]:
    """Return what is known beside the artefact, and the contract to report instead, if there is
    one.
    """
    name = recorded["contract"]
    try:
        promised = contract(name)
    except UnknownContract as error:
        raise ReportError(f"{one_line(str(artefact))}: {error}") from None
    judged, violation = _reported(artefact)
    also = () if judged is None else tuple(one["contract"] for one in also_broken(judged, name))
    told = Told(
        statement=promised.statement,
        source=promised.source,
        matters=promised.matters,
        fix=promised.fix,
        script=_wherever_it_is(violation.get("reproducer_source", "")),
        expected=violation.get("expected", ""),
        observed=violation.get("observed", ""),
        also=also,
    )
    return told, None if judged is None else cause_of(judged, name)


def _wherever_it_is(script: str) -> str:
    """Return a script without the folders in which it looks for the saver: who reads the issue has
    it elsewhere.
    """
    shorter, folders = _FOLDER.subn("", script)
    if folders and "sys." not in shorter:
        shorter = shorter.replace("import sys\n", "", 1)
    return shorter


_FOLDER = re.compile(r"^sys\.path\.insert\(.*\)\n\n?", re.MULTILINE)


def _reported(artefact: Path) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the saver and the violation of an artefact in the report beside it.

    The saver is None and the violation empty if the report does not have them.
    """
    folder = artefact.absolute().parent.parent
    try:
        report = load_report(folder)
    except ReportError:
        # It was copied from there: the artefact alone says what was seen.
        return None, {}
    name = f"{artefact.parent.name}/{artefact.name}"
    for judged in report["savers"]:
        for one in judged["contracts"]:
            for violation in one["violations"]:
                if violation["artefact"] == name:
                    return judged, violation
    return None, {}
