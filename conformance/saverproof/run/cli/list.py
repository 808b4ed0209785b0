"""``saverproof list``: targets that can be judged by name, contracts, savers with known flaws."""

import click
from rich import box
from rich.table import Table

from saverproof.contracts.registry import contracts, families
from saverproof.run.cli._console import Output, told
from saverproof.run.known.shipped_files import shipped_files
from saverproof.savers.targets.finding import installed


@click.group(name="list", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Show the targets that --saver takes by name, and the contracts.

    Without an argument it shows both, the contracts by family only.
    """
    if context.invoked_subcommand is None:
        _show(_target_table())
        _show(_family_table())


@command.command(short_help="Show the targets of installed distributions.")
def targets() -> None:
    """Show the targets that installed distributions offer (entry points "saverproof.targets")."""
    _show(_target_table())


@command.command(name="contracts", short_help="Show what a saver promises.")
@click.option(
    "--family",
    metavar="FAMILY",
    help="only the contracts of this family",
)
def contract_list(family: str | None) -> None:
    """Show what a saver promises: id, level and statement of each contract.

    A violated "must" fails a run. A violated "should" is advice.
    """
    if family is not None and family not in families():
        known = ", ".join(families())
        raise click.BadParameter(
            f"found {family!r}, expected one of {known}", param_hint="--family"
        )
    table = _table("contract", "level", "promise")
    for contract in contracts(family):
        table.add_row(contract.id, str(contract.level), contract.statement)
    _show(table)


@command.command(name="known", short_help="Show the savers whose flaws the kit knows.")
def known_list() -> None:
    """Show the released savers whose flaws the kit knows: these fail no run (--saver-known)."""
    table = _table("saver", "release", "contracts that it breaks")
    for saver, file in shipped_files().items():
        for release in file.releases:
            ids = dict.fromkeys(entry.id for entry in file.flaws_of(release))
            table.add_row(saver, release, ", ".join(ids))
    _show(table)


def _target_table() -> Table:
    table = _table("target", "distribution", "defined in")
    for name, point in installed().items():
        table.add_row(name, point.dist.name if point.dist else "", point.value)
    return table


def _family_table() -> Table:
    table = _table("family", "must", "should")
    for family in families():
        levels = [contract.level for contract in contracts(family)]
        table.add_row(
            family, str(levels.count(levels[0].MUST)), str(levels.count(levels[0].SHOULD))
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=column in ("contract", "target", "saver", "release"))
    return table


def _show(table: Table) -> None:
    console = Output()
    if console.is_terminal:
        console.print(table)
        return
    # In a pipe nothing is to be wrapped: one line an entry, without the blanks up to the edge.
    console.width = 1000
    with console.capture() as shown:
        console.print(table)
    for line in shown.get().splitlines():
        told(line.rstrip())
