"""``saverproof report``: the report of one or several runs, as a page, as text, as a folder."""

from pathlib import Path
from typing import Any

import click

from saverproof.run.cli._files import OUTPUT, write, writing
from saverproof_reports import badge as badge_of
from saverproof_reports import html as html_of
from saverproof_reports import load_report, merged, write_report
from saverproof_reports import markdown as markdown_of
from saverproof_reports import sarif as sarif_of
from saverproof_reports.side_files import files_apart, with_artefacts


@click.command(name="report")
@click.argument("reports", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--html", type=OUTPUT, metavar="FILE", help="write one web page, - for the terminal")
@click.option("--markdown", type=OUTPUT, metavar="FILE", help="write it as Markdown")
@click.option("--sarif", type=OUTPUT, metavar="FILE", help="write findings for code scanning")
@click.option("--badge", type=OUTPUT, metavar="FILE", help="write JSON for a badge of shields.io")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="write everything that a run leaves: report.json, report.html, report.md, reproducers, "
    "artefacts",
)
def command(
    reports: tuple[Path, ...],
    html: Path | None,
    markdown: Path | None,
    sarif: Path | None,
    badge: Path | None,
    folder: Path | None,
) -> None:
    """Show the results of runs again, without judging anything.

    Each of REPORTS is a report.json, the folder that holds it, or the folder of a run that was
    killed: what that run had finished is shown, marked as incomplete. Several become one page on
    which the savers are side by side; runs that judged different families, or contracts, of the
    same saver become one run, so that the jobs of a CI matrix give one page.

    Without an option it prints Markdown.

    \b
        saverproof report .saverproof --html report.html
        saverproof report sqlite/ postgres/ redis/ --html savers.html
        saverproof report job-1/ job-2/ job-3/ --folder whole
        saverproof report .saverproof --folder rescued
        saverproof report .saverproof --sarif saverproof.sarif --badge saverproof-badge.json
    """
    report = merged(files_apart(_loaded(path) for path in reports))
    wanted = ((html, html_of), (markdown, markdown_of), (sarif, sarif_of), (badge, badge_of))
    for path, text_of in wanted:
        if path is not None:
            write(path, text_of(report))
    if folder is None and not any(path for path, _ in wanted):
        write(Path("-"), markdown_of(report))
    if folder is not None:
        with writing(folder):
            write_report(report, folder)


def _loaded(path: Path) -> dict[str, Any]:
    """Return a report with the artefacts beside it, so that they can be copied with it."""
    return with_artefacts(load_report(path), path if path.is_dir() else path.parent)
