"""The command ``python -m saverproof_savers import SOURCE TARGET``."""

import sqlite3

import click
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from saverproof_savers import ImportMismatchError, SchemaError, SqliteSaver, UndecodableError
from saverproof_savers.importing import import_official
from saverproof_savers.official import open_official


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
        # Open the source first: a wrong one must not leave an empty target behind.
        with open_official(source, JsonPlusSerializer()):
            pass
        console = Console(stderr=True)
        with (
            SqliteSaver.open(target) as saver,
            Progress(
                *Progress.get_default_columns(),
                MofNCompleteColumn(),
                console=console,
                disable=not console.is_terminal,
                transient=True,
            ) as progress,
        ):
            threads_done = progress.add_task("threads", total=None)

            def show(done: int, total: int) -> None:
                progress.update(threads_done, completed=done, total=total)

            brought = import_official(source, saver, thread_ids=threads or None, on_progress=show)
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
        f"{target}: {brought.threads} threads verified "
        f"({brought.already_there} were there before), {brought.checkpoints} checkpoints, "
        f"{brought.writes} pending writes"
    )


if __name__ == "__main__":
    main(prog_name="python -m saverproof_savers")
