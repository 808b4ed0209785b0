"""``saverproof compare``: what got worse and what got better between two runs."""

import sys
from pathlib import Path

import click

from saverproof.run.cli._console import told
from saverproof.run.cli._files import OUTPUT, write
from saverproof_reports import (
    compare,
    comparison_html,
    comparison_markdown,
    comparison_text,
    load_report,
)
from saverproof_reports.comparison import VerdictChange

_COLOURS = {
    VerdictChange.WORSE: "red",
    VerdictChange.BETTER: "green",
    VerdictChange.NO_LONGER_EXERCISED: "yellow",
}


@click.command(name="compare")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--html", type=OUTPUT, metavar="FILE", help="write it as a web page as well")
@click.option("--markdown", type=OUTPUT, metavar="FILE", help="write it as Markdown as well")
def command(old: Path, new: Path, html: Path | None, markdown: Path | None) -> None:
    """Say what changed from the run OLD to the run NEW.

    Both are report.json files, or the folders that hold them. They may be of different versions,
    profiles, or savers: the output says so. A contract that OLD does not have never counts as
    worse; one that was judged in OLD and not in NEW is listed, and is not a pass.

    \b
    exit status 0  nothing got worse
    exit status 1  a contract of level must got worse
    exit status 2  a file cannot be used
    """
    comparison = compare(load_report(old), load_report(new))
    if html is not None:
        write(html, comparison_html(comparison))
    if markdown is not None:
        write(markdown, comparison_markdown(comparison))
    sentence, *lines = comparison_text(comparison).splitlines()
    told(sentence, colour="red" if comparison.exit_status else "green", bold=True)
    for line in lines:
        told(line, colour=_colour(line))
    sys.exit(comparison.exit_status)


def _colour(line: str) -> str | None:
    start = line.strip().partition(":")[0]
    return next((colour for kind, colour in _COLOURS.items() if start == kind.value), None)
