"""`python -m saverproof_savers import SOURCE TARGET`."""

import sqlite3

import click

from saverproof_savers import ImportMismatchError, SchemaError, SqliteSaver, UndecodableError
from saverproof_savers.importing import import_official


@click.group()
def main() -> None:
    """Tools for the bundled SQLite savers."""


@main.command("import")
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option(
    "--thread",
    "threads",
    multiple=True,
    metavar="ID",
    help="Bring over this thread only; may be given several times.",
)
def import_command(source: str, target: str, threads: tuple[str, ...]) -> None:
    """Copy the threads of SOURCE, a database of langgraph-checkpoint-sqlite, to TARGET.

    Every checkpoint is read back and compared with its source before its thread is committed.
    SOURCE is not changed. May be repeated: threads that are there already are compared too.
    """
    try:
        with SqliteSaver.open(target) as saver:
            done = import_official(source, saver, thread_ids=threads or None)
    except (
        ImportMismatchError,
        RuntimeError,
        SchemaError,
        UndecodableError,
        ValueError,
        sqlite3.Error,
    ) as error:
        raise click.ClickException(str(error)) from None
    click.echo(
        f"{target}: {done.threads} threads verified ({done.already_there} were there before), "
        f"{done.checkpoints} checkpoints, {done.writes} pending writes"
    )


if __name__ == "__main__":
    main(prog_name="python -m saverproof_savers")
