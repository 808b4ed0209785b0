"""The output of the commands: results on standard output, progress on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something takes a while: an animation on a terminal, else one line."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if console.is_terminal:
        with console.status(what):
            yield
        return
    click.echo(f"{what} …", err=True)
    yield


class Output(Console):
    """Standard output for tables. If its reader has left, it raises as ``print`` does."""

    def __init__(self) -> None:
        super().__init__(markup=False, highlight=False)

    def on_broken_pipe(self) -> None:
        # Rich's own would end the command with exit status 1, which says something of a saver.
        raise BrokenPipeError


def told(text: str, *, colour: str | None = None, bold: bool = False) -> None:
    """Write a line to standard output; its colour shows only on a terminal."""
    click.echo(click.style(text, fg=colour, bold=bold or None) if colour else text)
