"""Write the files that commands produce; "-" is standard output."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from saverproof_reports import ReportError
from saverproof_reports.files import private_folder, write_private
from saverproof_reports.text import one_line

OUTPUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
"""The type of an option that names a file to write."""


def write(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` as a whole or not at all, readable by its owner alone.

    Raises:
        ReportError: it cannot be written; the message is one line.
    """
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    with writing(path):
        private_folder(path.parent)
        write_private(path, text)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError of the block into a ReportError that names ``path``.

    Raises:
        ReportError: a file or folder could not be written; the message is one line.
    """
    try:
        yield
    except OSError as error:
        where = one_line(str(path))
        raise ReportError(f"{where}: cannot be written: {error.strerror}") from error
    click.echo(f"written: {path}", err=True)
