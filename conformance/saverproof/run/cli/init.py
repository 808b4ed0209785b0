"""``saverproof init``: from a saver's class to a first verdict, and to the files that keep it."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from saverproof.errors import TargetError
from saverproof.families.requests import JUDGING
from saverproof.process.environment import Setting
from saverproof.process.forks import forks_of
from saverproof.run.cli._console import told, working
from saverproof.run.cli._files import writing
from saverproof.run.cli._pytest import run_pytest
from saverproof.run.scaffold.extension import extension_texts
from saverproof.run.scaffold.rendering import KNOWN_FILE, TARGET_FILE, function_name, texts
from saverproof.run.scaffold.requests import INSPECTING, ClassName, SaverClass
from saverproof.run.scaffold.searching import savers_in
from saverproof.run.scaffold.trying import look_at, opening_of
from saverproof.savers.targets.requests import PROBING
from saverproof_reports.text import one_line


@click.command(name="init", short_help="Write a target for a saver, and judge it.")
@click.argument("saver", required=False, metavar="[MODULE:CLASS]")
@click.option("--yes", "-y", is_flag=True, help="ask nothing, and take what is found")
@click.option("--name", metavar="NAME", help="what the saver is called in reports")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="where the target goes (default: tests, if there is such a folder, else here)",
)
@click.option(
    "--extension",
    metavar="NAME",
    help="write a distribution that adds a family of contracts called NAME instead",
)
@click.pass_context
def command(
    context: click.Context,
    saver: str | None,
    yes: bool,
    name: str | None,
    folder: Path | None,
    extension: str | None,
) -> None:
    """Write a target for a saver, a known-violations file and a CI workflow, and judge it.

    Without MODULE:CLASS it looks for the savers of this folder's project. It tries the ways in
    which the class can be opened (from_conn_string, the constructor, async ones) in an empty
    folder, and writes down the first that keeps what it is given. Files that already exist are
    left alone. Then the quick profile judges the saver.

    A saver that needs a server is tried with the address in SAVER_DSN.

    \b
        saverproof init my_package.saver:MySaver
        saverproof init langgraph.checkpoint.sqlite:SqliteSaver --yes
        saverproof init --extension labels

    \b
    exit status 0  everything that was judged held
    exit status 1  something is violated
    exit status 2  it cannot be opened yet: the file that was written says why
    """
    if extension is not None:
        _write_extension(extension, folder or Path())
        return
    setting = Setting.current()
    setting.apply()
    # The run of pytest at the end has its children from there, too.
    context.with_resource(forks_of((INSPECTING, PROBING, JUDGING)))
    project = Path(setting.folder)
    kind = _looked_at(_named(saver, project, yes=yes), setting)
    with working(f"finding out how {kind.name} opens"):
        opening, facts = opening_of(kind, setting, lambda text: click.echo(f"  {text}", err=True))
    if folder is None:
        folder = Path("tests") if (project / "tests").is_dir() else Path()
    name = name or function_name(kind).replace("_", "-")
    files = texts(kind, opening, name, folder, project)
    new = {path: text for path, text in files.items() if not (project / path).exists()}
    _tell(kind, files, new)
    if not yes:
        click.confirm("write them?", default=True, abort=True)
    for path, text in new.items():
        _write(project / path, text)
    wanted = f"{folder / TARGET_FILE}:{function_name(kind)}"
    if facts is None:
        for failure in opening.failures[1:]:
            click.echo(f"  {failure}", err=True)
        raise TargetError(
            f"{one_line(kind.name, 80)}: {one_line(opening.failures[0].rstrip('.:'))}; "
            f"make {folder / TARGET_FILE} open it, then run: pytest --saver={wanted}"
        )
    sys.exit(_judged(wanted, folder))


def _write_extension(name: str, folder: Path) -> None:
    """Write a distribution with a family of contracts; existing files are left alone."""
    files = extension_texts(name)
    top = folder / next(iter(files)).parts[0]
    if top.exists():
        raise TargetError(f"--extension: found {one_line(str(top))}, expected a new folder")
    for path, text in files.items():
        _write(folder / path, text)
    told("\nnext", bold=True)
    told(f"  pip install -e {top}")
    told(f"  pytest --saver=memory --saver-families={name}")


def _named(saver: str | None, project: Path, *, yes: bool) -> ClassName:
    if saver is not None:
        named = ClassName.read(saver)
        if named is None:
            raise click.BadParameter(
                f"found {one_line(saver, 80)!r}, expected module:Class, such as "
                "langgraph.checkpoint.sqlite:SqliteSaver",
                param_hint="MODULE:CLASS",
            )
        return named
    found = savers_in(project)
    choices = [f"{one.module}:{one.name}" for one in found]
    if len(found) == 1:
        click.echo(f"found {choices[0]}")
        return found[0]
    if not found:
        raise click.UsageError("MODULE:CLASS: found no saver in this folder, expected its class")
    if yes:
        shown = ", ".join(choices)
        raise click.UsageError(f"MODULE:CLASS: found the savers {shown} here, expected one")
    chosen = click.prompt("which saver?", type=click.Choice(choices), default=choices[0])
    return found[choices.index(chosen)]


def _looked_at(wanted: ClassName, setting: Setting) -> SaverClass:
    with working(f"looking at {one_line(wanted.module, 80)}:{one_line(wanted.name, 80)}"):
        return look_at(wanted, setting)


def _tell(kind: SaverClass, files: Mapping[Path, str], new: Mapping[Path, str]) -> None:
    told(f"files for {kind.module}:{kind.name}")
    for path in files:
        told(f"  {path}" + ("" if path in new else " (is there already, and stays)"))


def _write(path: Path, text: str) -> None:
    """Write a file of the author's own project, with the mode of new files there."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _judged(wanted: str, folder: Path) -> int:
    """Judge with the quick profile as the user would, and say what to do next."""
    arguments = [f"--saver={wanted}", "--saver-profile=quick"]
    told(f"\npytest {' '.join(arguments)}\n", bold=True)
    status = run_pytest(arguments)
    # Of a red run pytest has said what to do next; this goes on from there.
    told("\nthen" if status == 1 else "\nnext", bold=True)
    if status == 1:
        told(f"  saverproof known .saverproof -o {folder / KNOWN_FILE}   accept what must stay")
    told(f"  pytest --saver={wanted}          search longer, as CI does")
    told(f"  pytest --saver={wanted} --saver-profile=deep -n auto   before a release")
    return status
