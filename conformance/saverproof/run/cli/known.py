"""``saverproof known``: the first draft of a known-violations file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from saverproof.run.cli._files import writing
from saverproof.run.known.drafting import draft
from saverproof.run.known.reading import read_known
from saverproof_reports import ReportError, load_report, read_artefact, write_artefact
from saverproof_reports.files import private_folder, write_private
from saverproof_reports.text import one_line


@click.command(name="known", short_help="Draft a known-violations file from a report.")
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("known.toml"),
    metavar="FILE",
    help="the file to write (default: known.toml); one that has entries is left alone",
)
@click.option("--saver", metavar="NAME", help="which saver, if the report has several")
def command(report: Path, output: Path, saver: str | None) -> None:
    """Write a first draft of a known-violations file from the results in REPORT.

    REPORT is a report.json or the folder that holds it. Each violated contract of level must gets
    an entry, and the artefact that shows it is copied to a folder beside the file, from which it
    is run first in every later run: a flaw that is fixed makes its entry stale, and that fails,
    unless it hangs on timing. A must that is unknown gets an entry without an example: a later run
    may find it broken.

    \b
        saverproof known .saverproof -o tests/known.toml
        pytest --saver=my-saver --saver-known=tests/known.toml
    """
    # A file without entries, as `saverproof init` writes it, has nothing to lose.
    if output.exists() and read_known(output):
        raise ReportError(f"{one_line(str(output))}: has entries already, expected a new file")
    judged = _judged(load_report(report), saver, report)
    folder = report if report.is_dir() else report.parent
    examples = f"{output.stem}-examples"
    drafted = draft(judged, examples)
    if "[[known]]" not in drafted.text:
        name = one_line(judged["saver"]["name"])
        click.echo(f"{name}: nothing of level must is violated or unknown")
        return
    artefacts = {one.path: read_artefact(folder / one.artefact) for one in drafted.examples}
    with writing(output):
        private_folder(output.parent / examples)
        for path, artefact in artefacts.items():
            write_artefact(artefact, output.parent / path)
        write_private(output, drafted.text)
    count = drafted.text.count("[[known]]")
    click.echo(f"{count} entries, {len(drafted.examples)} with an example; add reasons and links")
    if drafted.undecided:
        contracts = "contract" if drafted.undecided == 1 else "contracts"
        click.echo(f"{drafted.undecided} of them for {contracts} not seen broken, but not judged")


def _judged(report: Mapping[str, Any], saver: str | None, path: Path) -> Mapping[str, Any]:
    where = one_line(str(path))
    savers: dict[str, Mapping[str, Any]] = {
        judged["saver"]["name"]: judged for judged in report["savers"]
    }
    if not savers:
        raise ReportError(f"{where}: found no saver, expected the results of one")
    names = ", ".join(one_line(name, 80) for name in savers)
    if saver is None and len(savers) == 1:
        return next(iter(savers.values()))
    if saver is None:
        raise ReportError(f"{where}: found the savers {names}, expected one; choose by --saver")
    if saver not in savers:
        raise ReportError(f"--saver {one_line(saver, 80)}: {where} does not have it, only {names}")
    return savers[saver]
