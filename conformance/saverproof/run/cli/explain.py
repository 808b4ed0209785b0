"""``saverproof explain``: what a contract promises, why it matters, and how a saver is mended."""

import click

from saverproof.contracts.advice import page_of
from saverproof.contracts.applicability import conditions
from saverproof.contracts.links import link_of
from saverproof.contracts.registry import UnknownContract, contract
from saverproof.mistakes import MISTAKES
from saverproof.run.cli._console import told


@click.command(name="explain", short_help="Say why a contract matters, and how to fix a saver.")
@click.argument("id", metavar="CONTRACT")
def command(id: str) -> None:
    """Say what CONTRACT promises, why it matters, and how a saver that breaks it is mended.

    CONTRACT is an id as reports have it. `saverproof list contracts` shows all of them.

    \b
        saverproof explain upsert/put-replaces

    \b
    exit status 0  it was explained
    exit status 2  there is no such contract
    """
    try:
        promised = contract(id)
    except UnknownContract as error:
        raise click.BadParameter(str(error), param_hint="CONTRACT") from None
    told(f"{promised.id} ({promised.level})", colour="cyan", bold=True)
    notes = (one.note for one in MISTAKES if one.breaks == promised.id)
    texts = (
        ("promise", [promised.statement]),
        ("matters", [promised.matters]),
        ("mistakes", [promised.wrong, *notes]),
        ("fix", [promised.fix]),
        ("source", [promised.source, link_of(promised.source)]),
        ("applies", [conditions(promised)]),
        ("more", [page_of(promised)]),
    )
    for name, lines in texts:
        for number, line in enumerate(filter(None, lines)):
            told(f"  {'' if number else name:<9} {line}")
