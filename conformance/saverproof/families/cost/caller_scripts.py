"""Standalone scripts that count how many callers reach the database at once."""

from __future__ import annotations

from saverproof.contracts.tables.cost import CALLERS_AT_ONCE
from saverproof.families.chain import Chain
from saverproof.families.cost.script_counters import loading_drivers
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.plain_calls import calling, source_of, with_saver
from saverproof.scripts.script import complaint, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import first_to_complain

_IMPORTS = (
    "import itertools",
    "from functools import partial",
    "from saverproof_faults.counters import Meetings",
)


def reproducer(target: Target, callers: int, api: str) -> str:
    """Return the source of a script that shows callers waiting for each other; "" if none shows
    it.
    """
    opening = opening_of(target)
    if opening is None:
        return ""
    text = script(callers, api, opening, target.name)
    return first_to_complain([text], CALLERS_AT_ONCE.id)


def script(callers: int, api: str, opening: Opening, name: str) -> str:
    """Return the source of a script with this number of callers."""
    lines = [
        *calling(opening, api),
        *loading_drivers(),
        *source_of(Chain),
        *opening.in_folder(
            [
                "with Meetings() as meetings:",
                *indented(with_saver(opening, api, lambda saver: _met(callers, saver))),
            ]
        ),
        f'print("in the driver at once:", *met, "of {callers} callers")',
        "if max(met) == 1:",
        f"    {complaint(f'up to {callers} of {callers} callers at once', '{met}')}",
    ]
    return whole_script(promise_of(CALLERS_AT_ONCE.id), name, opening, lines, _IMPORTS)


def _met(callers: int, saver: str) -> list[str]:
    return [
        f"asked = {saver}",
        f'chains = [Chain(asked, f"caller-{{number}}") for number in range({callers})]',
        "for chain in chains:",
        "    chain.step()",
        "calls = [partial(asked.get_tuple, chain.place) for chain in chains]",
        "met = [meetings.of(calls).at_once for number in range(3)]",
    ]
