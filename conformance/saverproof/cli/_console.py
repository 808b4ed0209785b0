"""How the commands talk: results on standard output, progress on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say that something takes a while: with a sign of life on a terminal, else in one line."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if console.is_terminal:
        with console.status(what):
            yield
        return
    click.echo(f"{what} …", err=True)
    yield


def told(text: str, *, colour: str | None = None, bold: bool = False) -> None:
    """A line on standard output; coloured on a terminal only."""
    click.echo(click.style(text, fg=colour, bold=bold or None) if colour else text)
