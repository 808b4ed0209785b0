"""The command ``saverproof``: each module has one subcommand, its ``command``.

Modules whose names start with an underscore have none. A subcommand is imported when it is used, so
that ``saverproof --help`` and single commands start quickly.
"""

import os
import pkgutil
import select
import sys
import traceback
from importlib import import_module

import click

from saverproof.errors import JudgeError, SaverproofError
from saverproof_reports.errors import ReportError

_INTERRUPTED = 130
"""The exit status after Ctrl-C, as in shells."""
_NOT_READ = 141
"""The exit status if the reader of the output, such as ``head``, has left: the one that shells give
for SIGPIPE.
"""


class _Commands(click.Group):
    """A group that finds each subcommand in the module of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            module.name
            for module in pkgutil.iter_modules(__path__)
            if not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        # The exit status 1 says something of a saver, so that nothing else may end with it.
        try:
            return super().invoke(ctx)
        except (SaverproofError, ReportError) as error:
            if isinstance(error, JudgeError):
                click.echo(error.details, err=True)
            raise click.UsageError(str(error), ctx=None) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except Exception as error:  # noqa: BLE001 - it is shown, and never taken for an answer
            if isinstance(error, BrokenPipeError) and _reader_has_left():
                ctx.exit(_NOT_READ)
            traceback.print_exc()
            click.echo("an error of saverproof itself, please report it", err=True)
            ctx.exit(2)


def _reader_has_left() -> bool:
    """Return whether nobody reads standard output any more. What is not yet written is then
    dropped.
    """
    output, watch = sys.stdout.fileno(), select.poll()
    watch.register(output, 0)
    if not watch.poll(0):
        return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output)
    os.close(nowhere)
    return True


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="saverproof", message="%(package)s %(version)s")
def main() -> None:
    """Tests for LangGraph checkpointers ("savers"), and what to do with their results.

    A saver is judged by pytest:

    \b
        pytest --saver=sqlite                     a name that `saverproof list` shows
        pytest --saver=my_saver.testing:my_saver  a target in a module
        pytest --saver=path/to/file.py:my_saver   a target in a file

    The commands below look at what there is to judge, and at what a run found.
    """
