"""``saverproof judge``: from a saver's class, or a target, to a verdict in one line."""

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from saverproof.errors import SaverproofError
from saverproof.families.requests import JUDGING
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of
from saverproof.run.cli._console import working
from saverproof.run.cli._pytest import run_pytest
from saverproof.run.project.options import project_options
from saverproof.run.project.table import project_table
from saverproof.run.scaffold.passing import target_for
from saverproof.run.scaffold.requests import INSPECTING
from saverproof.savers.targets.requests import PROBING
from saverproof_reports.text import one_line

_PROFILE = "--saver-profile"


@click.command(
    name="judge",
    short_help="Judge a saver's class or a target, in one line.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("saver", required=False, metavar="[SAVER]")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF PYTEST]...")
def command(saver: str | None, options: tuple[str, ...]) -> None:
    """Judge SAVER with the quick profile, and write nothing but .saverproof/.

    SAVER is a saver's class as module:Class or file.py:Class, or what pytest --saver takes. Of a
    class it tries the ways in which it can be opened, as `saverproof init` does, and takes the
    first that keeps what it is given. Without SAVER the table [tool.saverproof] of pyproject.toml
    says what to judge.

    All else is handed to pytest: --saver-profile=deep, --saver-families=upsert, -n 2.

    \b
        saverproof judge my_package:MySaver
        saverproof judge sqlite --saver-families=upsert
        uvx --with my-package saverproof judge my_package:MySaver
        pipx run --spec saverproof saverproof judge sqlite

    \b
    exit status 0  everything that was judged held
    exit status 1  something is violated
    exit status 2  SAVER is no saver's class, or a class that cannot be imported or opened
    exit status 4  the run could not be made: a target, or an option, that cannot be used
    """
    setting = Setting.current()
    setting.apply()
    folder = Path(setting.folder)
    if saver is not None and saver.startswith("-"):
        options, saver = (saver, *options), None
    if saver is None:
        given = _of_project(folder)
    else:
        what = f"finding out how {one_line(saver, 80)} opens"
        shown = working(what) if ":" in saver else nullcontext()
        with forks_of((INSPECTING, PROBING, JUDGING)), shown:
            found = target_for(saver, setting, lambda text: click.echo(f"  {text}", err=True))
        given = [f"--saver={found}"]
    if not any(one.startswith(_PROFILE) for one in (*given, *options)):
        given.append(f"{_PROFILE}=quick")
    sys.exit(run_pytest(["-p", "no:cacheprovider", *given, *options]))


def _of_project(folder: Path) -> list[str]:
    table = project_table(folder)
    if table is None:
        raise click.UsageError(
            "SAVER: found none, and no [tool.saverproof] in pyproject.toml; expected one of them"
        )
    try:
        return project_options(table, folder)
    except SaverproofError as error:
        raise click.UsageError(error.message) from None
